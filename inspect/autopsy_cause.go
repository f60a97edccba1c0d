package inspect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/tape"
)

// explain fills in Cause, Witness and Path.
func (r *Record) explain(f *Finding) {
	n, p := f.At.Node, ravel(f.At.Node.Shape(), f.At.Index)
	f.Path = []Entry{f.At}
	if n.Role() != graph.RoleOp {
		f.Cause = map[graph.Role]string{
			graph.RoleInput:    "a value that is not finite was fed",
			graph.RoleParam:    "the parameter is not finite: an earlier step or the caller made it so",
			graph.RoleState:    "the state is not finite: an earlier step or the caller made it so",
			graph.RoleConstant: "the constant is not finite",
		}[n.Role()]
		return
	}
	f.Witness = r.operands(f.At)
	var guilty int
	var of trait.Wrong
	f.Cause, guilty, of = r.cause(n, p, f)
	if guilty >= 0 && guilty < len(f.Witness) && len(f.Witness[guilty].Entries) > 0 {
		f.Path = append(f.Path, r.suspects(f.Witness[guilty].Entries[0], of)...)
		f.Made = r.operands(f.Path[len(f.Path)-1])
	}
}

// operands lists the elements that e is computed from.
func (r *Record) operands(e Entry) []Operand {
	var out []Operand
	for i := range e.Node.NumIn() {
		out = append(out, r.operand(e.Node, ravel(e.Node.Shape(), e.Index), i))
	}
	return out
}

// operand returns the elements of operand i that element p needs, the most important first: those
// that are not finite, then the largest in magnitude.
func (r *Record) operand(n *graph.Node, p, i int) Operand {
	const most = 3
	x := n.In(i)
	o := Operand{Number: i}
	var at []int
	r.windowOf(n, p, i).each(x.Shape(), func(q int) { at = append(at, q) })
	o.Of = len(at)
	weight := func(q int) float64 {
		v := math.Abs(r.values[x].At(q))
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return v
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(weight(b), weight(a)) })
	for _, q := range at[:min(most, len(at))] {
		o.Entries = append(o.Entries, r.settled(r.entry(x, q)))
	}
	return o
}

// settled follows an element of an unnamed node back through changes of layout.
func (r *Record) settled(e Entry) Entry {
	for e.Node.Name() == "" && moves(e.Node) {
		o := r.operand(e.Node, ravel(e.Node.Shape(), e.Index), 0)
		if o.Of != 1 {
			break
		}
		e = o.Entries[0]
	}
	return e
}

// cause explains why element p of n is not finite. It returns the number of the operand to blame,
// -1 if none alone is, and what is wrong with that operand.
func (r *Record) cause(n *graph.Node, p int, f *Finding) (cause string, guilty int, of trait.Wrong) {
	in := make([]float64, n.NumIn())
	single := true
	for i, o := range f.Witness {
		if in[i] = math.NaN(); len(o.Entries) > 0 {
			in[i] = o.Entries[0].Value
		}
		single = single && o.Of == 1
	}
	got := f.At.Value
	if op, ok := n.Op().(trait.Undefined); ok && single {
		if f, ok := op.Undefined(n, in, got); ok {
			return f.Cause, f.Operand, f.Wrong
		}
	}
	if op, ok := n.Op().(trait.Degenerate); ok {
		in := make([]graph.Value, n.NumIn())
		for i, x := range n.Inputs() {
			in[i] = r.wide(x)
		}
		if f, ok := op.Degenerate(n, in, p); ok {
			return f.Cause, f.Operand, f.Wrong
		}
	}
	guilty, name := r.largest(f), n.Op().Name()
	if slices.ContainsFunc(in, func(v float64) bool { return !finite(v) }) && math.IsNaN(got) {
		return name + " of infinite operands has no value", guilty, trait.Extreme
	}
	if cause, operand, of := r.overflow(n, p, in); cause != "" {
		if operand < 0 {
			operand = guilty
		}
		return cause, operand, of
	}
	if math.IsInf(got, 0) {
		return name + " is infinite there", guilty, trait.Extreme
	}
	return name + " has no value there", guilty, trait.Extreme
}

// overflow explains an element whose true value is too large for its type, or whose operands are
// so large that it must be. The operand is -1 if the largest one is to blame.
func (r *Record) overflow(n *graph.Node, p int, in []float64) (cause string, operand int, of trait.Wrong) {
	name, limit := n.Op().Name(), trait.Limit(n.DType())
	if v, defined := r.defined(n, p); defined && finite(v) {
		cause = fmt.Sprintf("overflow: %s gives %s, beyond %s", name, trait.Number(v), limit)
		if op, ok := n.Op().(trait.Overflowing); ok {
			if f, ok := op.Overflow(in); ok {
				return cause + ": " + f.Cause, f.Operand, f.Wrong
			}
		}
		return cause, -1, trait.Extreme
	}
	size, large := 0.0, 1e12
	switch n.DType() {
	case graph.F64:
		large = 1e100
	case graph.F16:
		large = 200 // whose square is near the largest number
	}
	for _, v := range in {
		size = max(size, math.Abs(v))
	}
	if size > large {
		return fmt.Sprintf("overflow: %s of numbers up to %s goes beyond %s", name, trait.Number(size), limit), -1, trait.Extreme
	}
	return "", -1, trait.Nothing
}

// largest returns the operand with the entry of the largest magnitude, -1 if there is none.
func (r *Record) largest(f *Finding) int {
	best, size := -1, 0.0
	for i, o := range f.Witness {
		if len(o.Entries) > 0 {
			if v := math.Abs(o.Entries[0].Value); best < 0 || v > size || math.IsNaN(v) {
				best, size = i, v
			}
		}
	}
	return best
}

// defined returns element p of n by its float64 definition, computed from its recorded operands.
func (r *Record) defined(n *graph.Node, p int) (v float64, ok bool) {
	in := make([]graph.Value, n.NumIn())
	for i, x := range n.Inputs() {
		in[i] = r.wide(x)
	}
	y, err := ref.Apply(r.env(), n, in)
	if err != nil {
		return 0, false
	}
	return y.Data[p], true
}

// hops limits the length of a path back.
const hops = 12

// suspects follows an entry with something wrong back to its origin, through operations that only
// moved it.
func (r *Record) suspects(e Entry, of trait.Wrong) []Entry {
	out := []Entry{e}
	for range hops {
		n, v := e.Node, e.Value
		if n.NumIn() == 0 {
			break
		}
		next, found := Entry{}, false
		p := ravel(n.Shape(), e.Index)
		for i := range n.NumIn() {
			x := n.In(i)
			if !x.DType().IsFloat() {
				continue
			}
			for _, c := range r.operand(n, p, i).Entries {
				if r.suspected(n, v, c.Value, of) && (!found || math.Abs(c.Value) > math.Abs(next.Value)) {
					next, found = c, true
				}
			}
		}
		if !found {
			break
		}
		if next.Node.Role() == graph.RoleConstant && match.Is(n, match.Select) {
			if c, ok := r.decided(r.settled(r.entry(n.In(0), p)), v, of); ok {
				next = c
			}
		}
		if moves(n) { // the same number elsewhere
			out = out[:len(out)-1]
		}
		out = append(out, next)
		e = next
		if of == trait.Zero && e.Value != 0 {
			of = trait.Extreme // what underflowed
		}
	}
	return out
}

// decided returns the entry that a mask compares element by element, if that entry is what is
// wrong. It explains why a choice took a constant.
func (r *Record) decided(mask Entry, v float64, of trait.Wrong) (Entry, bool) {
	n := mask.Node
	for _, x := range n.Inputs() {
		if !x.DType().IsFloat() || x.Shape() != n.Shape() {
			continue
		}
		c := r.settled(r.entry(x, ravel(n.Shape(), mask.Index)))
		if c.Node.Role() != graph.RoleConstant && r.suspected(n, v, c.Value, of) {
			return c, true
		}
	}
	return Entry{}, false
}

// suspected reports whether element c of an operand of n can have made v, computed from it, wrong.
func (r *Record) suspected(n *graph.Node, v, c float64, of trait.Wrong) bool {
	if moves(n) && (of == trait.Extreme || of == trait.Negative && c < 0) {
		return true
	}
	return trait.Blames(n.Op(), of, c, v)
}

// moves reports whether an operation only lays out its operand anew.
func moves(n *graph.Node) bool {
	_, ok := n.Op().(tape.Viewed)
	return ok && n.NumIn() == 1
}
