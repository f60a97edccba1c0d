package inspect

import (
	"math"
	"sort"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
)

// window is the part of an operand that an element of a result is computed from: from lo up to hi
// along each axis. The zero window is empty.
type window struct{ lo, hi []int }

func whole(s graph.Shape) window { return window{make([]int, s.Rank()), s.Sizes()} }

func at(index []int) window {
	w := window{append([]int{}, index...), append([]int{}, index...)}
	for a := range w.hi {
		w.hi[a]++
	}
	return w
}

// each calls f with the places of the elements in row-major order.
func (w window) each(s graph.Shape, f func(p int)) {
	if w.empty() {
		return
	}
	var walk func(a, p int)
	walk = func(a, p int) {
		if a == s.Rank() {
			f(p)
			return
		}
		for k := w.lo[a]; k < w.hi[a]; k++ {
			walk(a+1, p*s.Dim(a)+k)
		}
	}
	walk(0, 0)
}

func (w window) empty() bool { return w.lo == nil }

// probed is the size of operands and result together up to which an operation is evaluated
// repeatedly to find a window.
const probed = 1 << 18

// windowOf finds the part of operand i that element p of n is computed from. Elementwise
// operations need the same element, and a [trait.Windowed] one says what it needs. For any other
// operation the definition is evaluated with NaN in the parts of the operand before and after a
// place along an axis, to see whether p turns NaN; the window is a box around what is needed.
// Large operands and loops are taken whole.
func (r *Record) windowOf(n *graph.Node, p, i int) window {
	x := n.In(i)
	if op, ok := n.Op().(trait.Elementwise); ok {
		in := make([]float64, n.NumIn())
		for k := range in {
			if in[k] = 0.5; !n.In(k).DType().IsFloat() {
				in[k] = r.values[n.In(k)].At(p)
			}
		}
		if in[i] = math.NaN(); x.DType().IsFloat() && !math.IsNaN(op.Scalar(in...)) {
			return window{} // the other branch of a choice
		}
		return at(unravel(x.Shape(), p))
	}
	if op, ok := n.Op().(trait.Windowed); ok {
		if lo, hi, ok := op.Window(n, i, unravel(n.Shape(), p)); ok {
			return window{lo, hi}
		}
	}
	size := n.Shape().Len()
	for _, x := range n.Inputs() {
		size += x.Shape().Len()
	}
	if _, loop := n.Op().(trait.Looped); loop || size > probed || !x.DType().IsFloat() || !n.DType().IsFloat() {
		return whole(x.Shape())
	}
	in := make([]graph.Value, n.NumIn())
	for k, x := range n.Inputs() {
		if in[k] = r.wide(x); x.DType().IsFloat() {
			in[k] = flat(x.Type(), 0.5)
		}
	}
	// needs reports whether p is computed from something in the window.
	needs := func(w window) bool {
		poisoned := flat(x.Type(), 0.5)
		w.each(x.Shape(), func(p int) { poisoned.Data[p] = math.NaN() })
		in[i] = poisoned
		y, err := ref.Apply(r.env(), n, in)
		return err == nil && math.IsNaN(y.Data[p])
	}
	w := whole(x.Shape())
	if !needs(w) {
		return w // NaN goes unnoticed, as in an unusual maximum: all may matter
	}
	for a := range w.lo {
		end := x.Dim(a)
		part := whole(x.Shape())
		hi := 1 + sort.Search(end-1, func(k int) bool { part.hi[a] = k + 1; return needs(part) }) // the first that matters, and one
		part = whole(x.Shape())
		lo := end - 1 - sort.Search(end-1, func(k int) bool { part.lo[a] = end - 1 - k; return needs(part) })
		w.lo[a], w.hi[a] = hi-1, lo+1
	}
	return w
}

// flat returns an array filled with one number.
func flat(t graph.Type, v float64) graph.Value {
	out := graph.NewValue(t)
	for p := range out.Data {
		out.Data[p] = v
	}
	return out
}

// wide returns a recorded value in float64.
func (r *Record) wide(n *graph.Node) graph.Value {
	v := graph.NewValue(n.Type())
	a := r.values[n]
	for p := range v.Data {
		v.Data[p] = a.At(p)
	}
	return v
}

// env returns what definitions read besides operands. Draws, which alone depend on the seed, have
// no operands; their values are taken from the record.
func (r *Record) env() trait.Env { return trait.Env{Step: r.store.Step()} }
