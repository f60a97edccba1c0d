package build

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Drawn fills an array, element by element, rounded to its type.
func Drawn(t graph.Type, next func() float64) graph.Value {
	v := graph.NewValue(t)
	for i := range v.Data {
		v.Data[i] = t.DType.Round(next())
	}
	return v
}

// Computed returns an array whose elements are a function of their place in it.
func Computed(t graph.Type, f func(i int) float64) graph.Value {
	i := -1
	return Drawn(t, func() float64 { i++; return f(i) })
}

// Identity returns the matrix I[a b] of two axes of equal size.
func Identity(g *graph.Graph, dt graph.DType, a, b graph.Axis) *graph.Node {
	return g.ConstantFunc(dt, func(v []float64) {
		for i := range a.Size {
			v[i*b.Size+i] = 1
		}
	}, a, b).As("I")
}

// Counting returns the constant 0, 1, 2, … along an axis, called place.
func Counting(g *graph.Graph, dt graph.DType, axis graph.Axis) *graph.Node {
	return Places(g, dt, axis).As("place")
}

// Places returns the constant 0, 1, 2, … along an axis.
func Places(g *graph.Graph, dt graph.DType, axis graph.Axis) *graph.Node {
	return g.ConstantFunc(dt, func(place []float64) {
		for i := range place {
			place[i] = float64(i)
		}
	}, axis)
}

// Zeros returns the array 0 of the element type of like.
func Zeros(like *graph.Node, axes ...graph.Axis) *graph.Node {
	s, err := graph.NewShape(axes...)
	if err != nil {
		return graph.Of(like).Fail("zeros", err, like)
	}
	return ops.BroadcastTo(ops.Lit(like, 0), s)
}
