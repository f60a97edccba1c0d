package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
)

// Full returns an array of a shape whose elements are all v, a number that the element type must
// hold ([graph.DType.Check]). It is a scalar constant repeated: whatever the shape, it takes the
// memory of one element until an operation needs it whole.
func Full(g *graph.Graph, dt graph.DType, v float64, axes ...graph.Axis) *graph.Node {
	defer g.Calling("Full")()
	s, err := graph.NewShape(axes...)
	if err != nil {
		return g.Fail("Full", err)
	}
	return BroadcastTo(g.Constant(dt, []float64{v}), s)
}

// Zeros returns an array of zeros, or of false; see [Full].
func Zeros(g *graph.Graph, dt graph.DType, axes ...graph.Axis) *graph.Node {
	defer g.Calling("Zeros")()
	return Full(g, dt, 0, axes...)
}

// Ones returns an array of ones, or of true; see [Full].
func Ones(g *graph.Graph, dt graph.DType, axes ...graph.Axis) *graph.Node {
	defer g.Calling("Ones")()
	return Full(g, dt, 1, axes...)
}

// FullLike returns an array of the shape and element type of x whose elements are all v; see [Full].
func FullLike(x *graph.Node, v float64) *graph.Node {
	defer calling("FullLike", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("FullLike", errNil, x)
	}
	return BroadcastTo(Lit(x, v), x.Shape())
}

// ZerosLike returns an array of zeros of the shape and element type of x; see [Full].
func ZerosLike(x *graph.Node) *graph.Node {
	defer calling("ZerosLike", x)()
	return FullLike(x, 0)
}

// OnesLike returns an array of ones of the shape and element type of x; see [Full].
func OnesLike(x *graph.Node) *graph.Node {
	defer calling("OnesLike", x)()
	return FullLike(x, 1)
}
