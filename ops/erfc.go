package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type erfc struct{ floats1 }

// Erfc returns the complementary error function 1 − erf x, element by element, for floats x. It
// keeps its digits where x is large.
func Erfc(x *graph.Node) *graph.Node { return elementwise(erfc{}, x) }

func (erfc) Name() string     { return "Erfc" }
func (erfc) Kind() match.Kind { return match.Erfc }
func (erfc) Doc() string      { return "complementary error function, element by element" }

func (erfc) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Mul(dy, Scale(Exp(Neg(Square(y.In(0)))), -2/math.Sqrt(math.Pi)))
}

func (erfc) Scalar(x ...float64) float64                      { return math.Erfc(x[0]) }
func (erfc) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Map{Of: math.Erfc} }
func (erfc) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("erfc", in[0]) }
func (erfc) Cases() []Case                                    { return case1(Erfc, Reals) }

type erfinv struct{ floats1 }

// Erfinv returns the number whose error function is x, element by element, for floats x: infinite
// at ±1, NaN beyond. √2·erfinv(2p − 1) is the quantile p of the standard normal distribution.
func Erfinv(x *graph.Node) *graph.Node { return elementwise(erfinv{}, x) }

func (erfinv) Name() string     { return "Erfinv" }
func (erfinv) Kind() match.Kind { return match.Erfinv }
func (erfinv) Doc() string      { return "inverse error function, element by element" }

// Grad is dx = dy·√π/2·exp(y²).
func (erfinv) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Mul(dy, Scale(Exp(Square(y)), math.Sqrt(math.Pi)/2))
}

func (erfinv) Scalar(x ...float64) float64                      { return math.Erfinv(x[0]) }
func (erfinv) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Map{Of: math.Erfinv} }
func (erfinv) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("erf⁻¹", in[0]) }
func (erfinv) Cases() []Case                                    { return case1(Erfinv, Domain{Lo: -0.9, Hi: 0.9}) }
