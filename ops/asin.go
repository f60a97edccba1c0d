package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type tan struct{ floats1 }

// Tan returns the tangent, element by element, for floats x in radians.
func Tan(x *graph.Node) *graph.Node { return elementwise(tan{}, x) }

func (tan) Name() string     { return "Tan" }
func (tan) Kind() match.Kind { return match.Tan }
func (tan) Doc() string      { return "tangent, element by element" }

// Grad is dx = dy·(1 + y²).
func (tan) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Shift(Square(y), 1)) }

func (tan) Scalar(x ...float64) float64                      { return tangent(x[0]) }
func (tan) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Map{Of: tangent, Wide: kernel.WideTan} }
func (tan) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("tan", in[0]) }
func (tan) Cases() []Case                                    { return case1(Tan, Domain{Lo: -1.2, Hi: 1.2}) }

type asin struct{ floats1 }

// Asin returns the angle from −π/2 to π/2 whose sine is x, element by element, for floats x: NaN
// beyond ±1. Its derivative is infinite at ±1.
func Asin(x *graph.Node) *graph.Node { return elementwise(asin{}, x) }

func (asin) Name() string     { return "Asin" }
func (asin) Kind() match.Kind { return match.Asin }
func (asin) Doc() string      { return "inverse sine, element by element" }

func (asin) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, Sqrt(lessSquare(y.In(0)))) }

func (asin) Scalar(x ...float64) float64                      { return simd.Asin.Of(x[0]) }
func (asin) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Asin} }
func (asin) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("asin", in[0]) }
func (asin) Cases() []Case                                    { return case1(Asin, Domain{Lo: -0.9, Hi: 0.9}) }

type acos struct{ floats1 }

// Acos returns the angle from 0 to π whose cosine is x, element by element, for floats x: NaN
// beyond ±1. Its derivative is infinite at ±1.
func Acos(x *graph.Node) *graph.Node { return elementwise(acos{}, x) }

func (acos) Name() string     { return "Acos" }
func (acos) Kind() match.Kind { return match.Acos }
func (acos) Doc() string      { return "inverse cosine, element by element" }

func (acos) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Neg(Div(dy, Sqrt(lessSquare(y.In(0)))))
}

func (acos) Scalar(x ...float64) float64                      { return simd.Acos.Of(x[0]) }
func (acos) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Acos} }
func (acos) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("acos", in[0]) }
func (acos) Cases() []Case                                    { return case1(Acos, Domain{Lo: -0.9, Hi: 0.9}) }

// tangent is by its series near 0, where math.Tan takes x itself from 10⁻⁷ on.
func tangent(x float64) float64 {
	if square := x * x; square < 1e-8 {
		return x + x*square*(1./3+square*2/15)
	}
	return math.Tan(x)
}

// lessSquare is 1 − x². The product keeps the digits where x is near ±1.
func lessSquare(x *graph.Node) *graph.Node { return Mul(OneMinus(x), Shift(x, 1)) }
