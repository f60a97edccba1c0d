package build

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Keys returns the axis that an axis of queries becomes where they are keys, too.
func Keys(a graph.Axis) graph.Axis {
	if a.Name != "" {
		a.Name += "′"
	}
	return a
}

// EveryPair repeats x[…] and w[h] to [… h], so that every element of one meets every element of
// the other, whether or not their axes have names that say so.
func EveryPair(x, w *graph.Node) (column, row *graph.Node) {
	x, own := ops.Expand(x, -1, ""), x
	if !x.IsValid() || !w.IsValid() || x.Graph() != w.Graph() || x.DType() != w.DType() {
		return x, w // the operation on them says what is wrong with what was given
	}
	s, err := graph.NewShape(append(own.Shape().Axes(), w.Shape().Axes()...)...)
	if err != nil || w.Rank() != 1 {
		return x, w
	}
	if !x.Shape().SameSizes(s) {
		x = ops.BroadcastTo(x, s)
	}
	if !w.Shape().SameSizes(s) {
		w = ops.BroadcastTo(w, s)
	}
	return x, w
}

// Apart returns the axes [in out] of weights: where both have one name, in goes without.
func Apart(in, out graph.Axis) []graph.Axis {
	if in.Name == out.Name {
		in.Name = ""
	}
	return []graph.Axis{in, out}
}

// Last returns the last axis of x; an axis of one element if there is none.
func Last(x *graph.Node) graph.Axis {
	if !x.IsValid() {
		return graph.Axis{Size: 1}
	}
	return x.Shape().Axis(x.Rank() - 1)
}

// Swapped returns x with two of its axes, counted from behind, in each other's place.
func Swapped(x *graph.Node, a, b int) *graph.Node {
	if !x.IsValid() {
		return x
	}
	order := make([]any, x.Rank())
	for i := range order {
		order[i] = i
	}
	a, b = a+len(order), b+len(order)
	order[a], order[b] = order[b], order[a]
	return ops.Transpose(x, order...)
}

// DType returns the element type of x, float32 if it has none.
func DType(x *graph.Node) graph.DType {
	if !x.IsValid() {
		return graph.F32
	}
	return x.DType()
}

// TimeInside returns x[t b … d], as loops give it, as [b … t d].
func TimeInside(x *graph.Node) *graph.Node {
	if !x.IsValid() {
		return x
	}
	order := []any{}
	for i := 1; i < x.Rank()-1; i++ {
		order = append(order, i)
	}
	return ops.Transpose(x, append(order, 0, x.Rank()-1)...)
}

// PerExample returns axes [n 1 …] beside x[n …], for one number for each example.
func PerExample(x *graph.Node) []graph.Axis {
	axes := x.Shape().Axes()
	for i := range axes[1:] {
		axes[i+1] = graph.Axis{Size: 1}
	}
	return axes
}
