package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Prod returns the product of numbers x over the given axes, or over all without any. It removes
// these axes unless [Keep] is given. It multiplies the first half of an axis by the second, ⌈log₂
// n⌉ times, which gives 1 of no elements, and never divides: derivatives of every order are right even where factors are 0.
func Prod(x *graph.Node, axes ...any) *graph.Node {
	defer calling("Prod", x)()
	return reduction("Prod", x, axes, func(set attr.AxisSet, keep bool) *graph.Node {
		defer x.Graph().Scope("product")()
		list := set.List()
		y := x
		for _, a := range list {
			y = multiplied(y, a)
		}
		s, err := reduceShape(x.Shape(), set, keep)
		if err != nil {
			return x.Graph().Fail("Prod", err, x)
		}
		return ReshapeTo(y, s)
	})
}

// multiplied is the product along one axis, which stays with size 1.
func multiplied(x *graph.Node, axis int) *graph.Node {
	if x.IsValid() && x.Dim(axis) == 0 {
		axes := x.Shape().Axes()
		axes[axis].Size = 1
		return Ones(x.Graph(), x.DType(), axes...)
	}
	for x.IsValid() && x.Dim(axis) > 1 {
		n := x.Dim(axis)
		h := n / 2
		y := Mul(Slice(x, axis, 0, h), Slice(x, axis, h, 2*h))
		if n > 2*h {
			y = Concat(axis, y, Slice(x, axis, 2*h, n))
		}
		x = y
	}
	return x
}
