package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type atan struct{ floats1 }

// Atan returns the angle from −π/2 to π/2 whose tangent is x, element by element, for floats x.
func Atan(x *graph.Node) *graph.Node { return elementwise(atan{}, x) }

func (atan) Name() string     { return "Atan" }
func (atan) Kind() match.Kind { return match.Atan }
func (atan) Doc() string      { return "inverse tangent, element by element" }

func (atan) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, Shift(Square(y.In(0)), 1)) }

func (atan) Scalar(x ...float64) float64 { return math.Atan(x[0]) }
func (atan) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Unary{Function: simd.Atan}
}
func (atan) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("atan", in[0]) }
func (atan) Cases() []Case                                    { return case1(Atan, Reals) }

type atan2 struct{ floats2 }

// Atan2 returns the angle of the point (x, y) with the first axis, from −π to π, element by
// element, with broadcasting, for floats: that whose tangent is y/x, in the quadrant of the signs
// of both. As everywhere, y comes first. At the origin it is a multiple of π by the signs of the
// zeros, as [math.Atan2] has it, and the derivatives are NaN.
func Atan2(y, x *graph.Node) *graph.Node { return elementwise(atan2{}, y, x) }

func (atan2) Name() string     { return "Atan2" }
func (atan2) Kind() match.Kind { return match.Atan2 }
func (atan2) Doc() string {
	return "angle of a point, given its second and its first coordinate, element by element"
}

// Grad is dy·x/(x² + y²) by the second coordinate, and −dy·y/(x² + y²) by the first.
func (atan2) Grad(angle, dy *graph.Node, i int) *graph.Node {
	y, x := angle.In(0), angle.In(1)
	square := Add(Square(x), Square(y))
	if i == 0 {
		return Mul(dy, Div(x, square))
	}
	return Neg(Mul(dy, Div(y, square)))
}

func (atan2) Scalar(x ...float64) float64 { return math.Atan2(x[0], x[1]) }
func (atan2) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Zip{Of: math.Atan2, Wide: kernel.WideAtan2}
}
func (atan2) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("atan2", in...) }
func (atan2) Cases() []Case                                    { return case2(Atan2, Apart, Positive) }
