package match

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// Summed returns the operand and the axes of a Sum.
func Summed(n *graph.Node) (x *graph.Node, axes attr.AxisSet, ok bool) { return reduced(n, Sum) }

// Averaged returns the operand and the axes of a Mean.
func Averaged(n *graph.Node) (x *graph.Node, axes attr.AxisSet, ok bool) { return reduced(n, Mean) }

func reduced(n *graph.Node, k Kind) (x *graph.Node, axes attr.AxisSet, ok bool) {
	if !Is(n, k) {
		return nil, 0, false
	}
	axes, _ = Along(n)
	return n.In(0), axes, true
}

// SoftmaxAxis returns the operand and the axis of a Softmax.
func SoftmaxAxis(n *graph.Node) (x *graph.Node, axis int, ok bool) {
	if !Is(n, Softmax) {
		return nil, 0, false
	}
	axes, _ := Along(n)
	return n.In(0), axes.List()[0], true
}

// Squared returns x where the node is x², written as Square(x), x·x or x^2.
func Squared(n *graph.Node) (x *graph.Node, ok bool) {
	switch KindOf(n) {
	case Square:
		return n.In(0), true
	case Mul:
		return n.In(0), n.In(0) == n.In(1)
	case Pow:
		v, ok := Literal(n.In(1))
		return n.In(0), ok && v == 2
	}
	return nil, false
}

// Literal returns the value of a constant whose elements are all equal, also where
// it is repeated.
func Literal(n *graph.Node) (float64, bool) {
	for Is(n, Broadcast) {
		n = n.In(0)
	}
	v, ok := n.Constant()
	if !ok || len(v.Data) == 0 {
		return 0, false
	}
	for _, x := range v.Data {
		if attr.FloatOf(x) != attr.FloatOf(v.Data[0]) {
			return 0, false
		}
	}
	return v.Data[0], true
}

// Twin returns a node that is already there and computes what n does, but for its shape:
// the same reduction with its axes kept or removed, or a commutative operation on
// the operands the other way round. It is older than n.
func Twin(n *graph.Node) (twin *graph.Node, ok bool) {
	switch op := n.Op().(type) {
	case trait.Paired:
		twin = n.Graph().Find(op.Twin(), n.In(0))
	case trait.Commutative:
		twin = n.Graph().Find(n.Op(), n.In(1), n.In(0))
	}
	return twin, twin != nil && twin.ID() < n.ID()
}

// Along returns the axes that a reduction, a softmax or a Concat works along.
func Along(n *graph.Node) (axes attr.AxisSet, ok bool) {
	op, ok := n.Op().(trait.Along)
	if !ok {
		return 0, false
	}
	return op.Along(), true
}

// Permuted returns the order of axes of a Transpose: axis i of the result is axis
// order[i] of the operand.
func Permuted(n *graph.Node) (order []int, ok bool) {
	op, ok := n.Op().(trait.Permuting)
	if !ok {
		return nil, false
	}
	return op.Order(), true
}

// Strided returns, for each axis, where the regular part that a Slice takes, or a
// Place fills, starts and how far apart its elements are.
func Strided(n *graph.Node) (start, step []int, ok bool) {
	op, ok := n.Op().(trait.Strided)
	if !ok {
		return nil, nil, false
	}
	start, step = op.Strides()
	return start, step, true
}

// Laying is an operation that lays an array into zeros, as Place.
type Laying interface {
	// Placing returns the operation that lays an array into zeros of a shape, along each axis from start
	// by step.
	Placing(start, step []int, to graph.Shape) graph.Op
}

// Inlined is an operation whose node other nodes can stand for.
type Inlined interface {
	// Inline returns what stands for y, nil if nothing does. Where late is false, derivatives have
	// still to be taken of it.
	Inline(y *graph.Node, late bool) *graph.Node
}

// Cut is the operation of a Slice, which gives others of its kind.
type Cut interface {
	graph.Op
	// Taking returns the operation that takes, along each axis, size elements from start by step.
	Taking(start, step, size []int) graph.Op
}

// Recounted is a loop, which is a [trait.Looped], that other loops can be made of.
type Recounted interface {
	// Recount returns the operation of a loop of other counts and another body; ok is false if what
	// the body computes is to stay in it.
	Recount(l trait.Loop) (op graph.Op, ok bool)
}
