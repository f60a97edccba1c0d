package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

// The parts of batching rules (Op.Batch). The axis of the batch is always the first.

// pointwise is embedded by elementwise operations, whose batching is broadcasting.
type pointwise struct{}

// Batch applies the operation to operands that broadcast over the batch's axis.
func (pointwise) Batch(y *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return elementwise(y.Op(), in...)
}

// inFront is the shape with the batch's axis before the others. Where it is that of
// a rule's own node, package vmap has found that it can be.
func inFront(b graph.Axis, s graph.Shape) graph.Shape {
	to, _ := graph.NewShape(append([]graph.Axis{b}, s.Axes()...)...)
	return to
}

// shifted is a number for each axis, with that of the batch's axis before them.
func shifted(first int, v attr.Ints) attr.Ints {
	return attr.IntsOf(append([]int{first}, v.List()...)...)
}

// repeated gives every operand the batch's axis: those that are the same for all
// examples are repeated along it.
func repeated(in []*graph.Node, batched []bool, b graph.Axis) []*graph.Node {
	out := slices.Clone(in)
	for i, x := range in {
		if batched[i] {
			continue
		}
		s, err := graph.NewShape(append([]graph.Axis{b}, x.Shape().Axes()...)...)
		if err != nil {
			out[i] = x.Graph().Fail("Batch", err, x)
			continue
		}
		out[i] = BroadcastTo(x, s)
	}
	return out
}

// moved brings n neighbouring axes to another place; the others keep their order.
func moved(x *graph.Node, from, n, to int) *graph.Node {
	if !x.IsValid() {
		return x
	}
	var order []int
	for a := range x.Rank() {
		order = append(order, a)
	}
	block := slices.Clone(order[from : from+n])
	return transposeTo(x, slices.Insert(slices.Delete(order, from, from+n), to, block...))
}

// merged makes one axis, without a name, of axis a and the next.
func merged(x *graph.Node, a int) *graph.Node {
	if !x.IsValid() {
		return x
	}
	n := x.Dim(a) * x.Dim(a+1)
	return reshapeAxes("Batch", x, slices.Replace(x.Shape().Axes(), a, a+2, graph.Axis{Size: n}))
}

// parted makes the batch's axis, and another after it, of axis a, and brings the
// batch's to the front.
func parted(x *graph.Node, a int, b, other graph.Axis) *graph.Node {
	if !x.IsValid() {
		return x
	}
	return moved(reshapeAxes("Batch", x, slices.Replace(x.Shape().Axes(), a, a+1, b, other)), a, 1, 0)
}

// beside lays the examples of x side by side along axis a of one example.
func beside(x *graph.Node, a int) *graph.Node { return merged(moved(x, 0, 1, a), a) }

// widened is a shape with axis a for n times as many elements, without its name.
func widened(s graph.Shape, a, n int) graph.Shape {
	axes := s.Axes()
	axes[a] = graph.Axis{Size: axes[a].Size * n}
	to, _ := graph.NewShape(axes...)
	return to
}
