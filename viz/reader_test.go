package viz

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// reader evaluates an expression as someone reads it: quantities by name, their
// elements by subscript in the order of their axes.
type reader struct {
	quantity map[string]quantity
	size     map[string]int // of indices
	index    map[string]int
}

type quantity struct {
	node  *graph.Node
	value graph.Value
}

func (r *reader) with(index string, v int, f func()) {
	old, had := r.index[index]
	r.index[index] = v
	f()
	if delete(r.index, index); had {
		r.index[index] = old
	}
}

// sizeOf is the range of an index, told by the first quantity that has it.
func (r *reader) sizeOf(index string, e graph.Expr) int {
	if n, ok := r.size[index]; ok {
		return n
	}
	if q, ok := r.quantity[e.Text]; ok && e.Kind == graph.ExprSymbol {
		if k := slices.Index(e.Subs, index); k >= 0 {
			return longAxes(q.node)[k].Size
		}
	}
	for _, a := range e.Args {
		if n := r.sizeOf(index, a); n > 0 {
			return n
		}
	}
	return 0
}

func longAxes(n *graph.Node) (out []graph.Axis) {
	for _, a := range n.Shape().Axes() {
		if a.Size > 1 {
			out = append(out, a)
		}
	}
	return out
}

func (r *reader) eval(e graph.Expr) float64 {
	if v, ok := valueOf(e); ok {
		return v
	}
	var a []float64
	if e.Kind != graph.ExprBig && e.Kind != graph.ExprNorm && e.Kind != graph.ExprCases && e.Text != "softmax" {
		for _, x := range e.Args {
			a = append(a, r.eval(x))
		}
	}
	switch e.Kind {
	case graph.ExprSymbol:
		return r.symbol(e)
	case graph.ExprAdd:
		s := 0.0
		for _, v := range a {
			s += v
		}
		return s
	case graph.ExprMul:
		s := 1.0
		for _, v := range a {
			s *= v
		}
		return s
	case graph.ExprDiv:
		return a[0] / a[1]
	case graph.ExprNeg:
		return -a[0]
	case graph.ExprPower:
		return math.Pow(a[0], a[1])
	case graph.ExprNorm:
		v := r.lastIndex(e.Args[0])
		return r.eval(graph.Big("Σ", []string{"last"}, graph.Expr{Kind: graph.ExprMul, Args: []graph.Expr{v, v}}))
	case graph.ExprCall:
		switch e.Text {
		case "tanh":
			return math.Tanh(a[0])
		case "√":
			return math.Sqrt(a[0])
		case "log":
			return math.Log(a[0])
		case "max":
			return max(a[0], a[1])
		case "softmax":
			if len(e.Subs) == 0 {
				return 1 // along an axis of size 1
			}
			j := e.Subs[0]
			total, here := 0.0, math.Exp(r.eval(e.Args[0]))
			for v := range r.sizeOf(j, e.Args[0]) {
				r.with(j, v, func() { total += math.Exp(r.eval(e.Args[0])) })
			}
			return here / total
		}
	case graph.ExprBig:
		return r.big(e, e.Subs)
	case graph.ExprBracket:
		holds := map[string]bool{"<": a[0] < a[1], "≤": a[0] <= a[1], "=": a[0] == a[1], "≠": a[0] != a[1]}[e.Text]
		if holds {
			return 1
		}
		return 0
	case graph.ExprCases:
		if r.eval(e.Args[0]) != 0 {
			return r.eval(e.Args[1])
		}
		return r.eval(e.Args[2])
	}
	panic(fmt.Sprintf("cannot read %s (%d %q)", Unicode(e), e.Kind, e.Text))
}

// lastIndex gives the vectors of a norm the index that they do not show.
func (r *reader) lastIndex(e graph.Expr) graph.Expr {
	if q, ok := r.quantity[e.Text]; ok && e.Kind == graph.ExprSymbol && len(longAxes(q.node)) == len(e.Subs)+1 {
		e.Subs = append(slices.Clip(e.Subs), "last")
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = r.lastIndex(e.Args[i])
	}
	return e
}

func (r *reader) big(e graph.Expr, subs []string) float64 {
	if len(subs) == 0 {
		return r.eval(e.Args[0])
	}
	n := r.sizeOf(subs[0], e.Args[0])
	if n == 0 {
		panic("index without a range in " + Unicode(e))
	}
	old, had := r.size[subs[0]]
	r.size[subs[0]] = n
	defer func() {
		if delete(r.size, subs[0]); had {
			r.size[subs[0]] = old
		}
	}()
	s, most := 0.0, math.Inf(-1)
	for v := range n {
		r.with(subs[0], v, func() {
			x := r.big(e, subs[1:])
			s, most = s+x, max(most, x)
		})
	}
	switch e.Text {
	case "mean":
		return s / float64(n)
	case "max":
		return most
	}
	return s
}

func (r *reader) symbol(e graph.Expr) float64 {
	if e.Text == "e" {
		return math.E
	}
	q, ok := r.quantity[e.Text]
	if !ok {
		panic("unknown symbol " + Unicode(e))
	}
	axes := longAxes(q.node)
	if len(axes) != len(e.Subs) {
		panic(fmt.Sprintf("%s stands for %v", Unicode(e), q.node))
	}
	p := 0
	for k, a := range axes {
		v, ok := r.at(e.Subs[k])
		if !ok || v >= a.Size {
			panic("free index, or one beyond its axis, in " + Unicode(e))
		}
		p = p*a.Size + v
	}
	return q.value.Data[p]
}

// at is the number that an index stands for: he is h·|e| + e, and t+1 one more.
func (r *reader) at(index string) (int, bool) {
	place, by := 0, 0
	text := graph.IndexText(index)
	if i := strings.IndexAny(text, "+−"); i >= 0 {
		by, _ = strconv.Atoi(strings.ReplaceAll(strings.Trim(text[i:], ")"), "−", "-"))
	}
	for _, s := range graph.IndexNames(index) {
		v, ok := r.index[s]
		if !ok || r.size[s] == 0 && index != s {
			return 0, ok && index == s
		}
		if index == s {
			return v, true
		}
		place = place*r.size[s] + v
	}
	return place + by, true
}

// set gives the names in an index the values at which it is v.
func (r *reader) set(index string, v int, size map[string]int) {
	names := graph.IndexNames(index)
	for _, s := range slices.Backward(names) {
		n := size[s]
		if len(names) == 1 {
			n = v + 1
		}
		r.index[s], r.size[s] = v%n, size[s]
		v /= n
	}
}
