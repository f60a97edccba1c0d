package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type sinh struct{ floats1 }

// Sinh returns the hyperbolic sine (eˣ − e⁻ˣ)/2, element by element, for floats x.
func Sinh(x *graph.Node) *graph.Node { return elementwise(sinh{}, x) }

func (sinh) Name() string     { return "Sinh" }
func (sinh) Kind() match.Kind { return match.Sinh }
func (sinh) Doc() string      { return "hyperbolic sine, element by element" }

func (sinh) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Cosh(y.In(0))) }

func (sinh) Scalar(x ...float64) float64                      { return simd.Sinh.Of(x[0]) }
func (sinh) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Sinh} }
func (sinh) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("sinh", in[0]) }
func (sinh) Cases() []Case                                    { return case1(Sinh, Reals) }

type cosh struct{ floats1 }

// Cosh returns the hyperbolic cosine (eˣ + e⁻ˣ)/2, element by element, for floats x.
func Cosh(x *graph.Node) *graph.Node { return elementwise(cosh{}, x) }

func (cosh) Name() string     { return "Cosh" }
func (cosh) Kind() match.Kind { return match.Cosh }
func (cosh) Doc() string      { return "hyperbolic cosine, element by element" }

func (cosh) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Sinh(y.In(0))) }

func (cosh) Scalar(x ...float64) float64                      { return simd.Cosh.Of(x[0]) }
func (cosh) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Cosh} }
func (cosh) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("cosh", in[0]) }
func (cosh) Cases() []Case                                    { return case1(Cosh, Reals) }

type acosh struct{ floats1 }

// Acosh returns the inverse hyperbolic cosine log(x + √(x²−1)), element by element, for floats x:
// NaN below 1. At 1 its derivative is infinite.
func Acosh(x *graph.Node) *graph.Node { return elementwise(acosh{}, x) }

func (acosh) Name() string     { return "Acosh" }
func (acosh) Kind() match.Kind { return match.Acosh }
func (acosh) Doc() string      { return "inverse hyperbolic cosine, element by element" }

func (acosh) Grad(y, dy *graph.Node, _ int) *graph.Node {
	x := y.In(0)
	return Div(dy, Mul(Sqrt(Shift(x, -1)), Sqrt(Shift(x, 1))))
}

func (acosh) Scalar(x ...float64) float64                      { return math.Acosh(x[0]) }
func (acosh) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Acosh} }
func (acosh) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("acosh", in[0]) }
func (acosh) Cases() []Case                                    { return case1(Acosh, Domain{Lo: 1.2, Hi: 3}) }

type atanh struct{ floats1 }

// Atanh returns the inverse hyperbolic tangent ½·log((1+x)/(1−x)), element by element, for floats
// x: infinite at ±1, NaN beyond.
func Atanh(x *graph.Node) *graph.Node { return elementwise(atanh{}, x) }

func (atanh) Name() string     { return "Atanh" }
func (atanh) Kind() match.Kind { return match.Atanh }
func (atanh) Doc() string      { return "inverse hyperbolic tangent, element by element" }

func (atanh) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, lessSquare(y.In(0))) }

func (atanh) Scalar(x ...float64) float64                      { return math.Atanh(x[0]) }
func (atanh) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Atanh} }
func (atanh) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("atanh", in[0]) }
func (atanh) Cases() []Case                                    { return case1(Atanh, Domain{Lo: -0.9, Hi: 0.9}) }
