package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type expm1 struct{ floats1 }

// Expm1 returns eˣ − 1, element by element, for floats x. It keeps its digits where x is near 0.
func Expm1(x *graph.Node) *graph.Node { return elementwise(expm1{}, x) }

func (expm1) Name() string                   { return "Expm1" }
func (expm1) Kind() match.Kind               { return match.Expm1 }
func (expm1) Magnifies() trait.Magnification { return trait.LargeArguments }
func (expm1) Doc() string                    { return "exponential less 1, element by element" }

// Grad is dx = dy·eˣ, from x: where x is very negative, 1 + y would have lost it.
func (expm1) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Exp(y.In(0))) }

func (expm1) Scalar(x ...float64) float64      { return math.Expm1(x[0]) }
func (expm1) Kernel(*graph.Node) kernel.Kernel { return kernel.Unary{Function: simd.Expm1} }
func (expm1) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Sym("e").Pow(in[0]).Minus(expr.Num(1))
}
func (expm1) Cases() []Case { return case1(Expm1, Reals) }

// Undefined explains what overflows.
func (expm1) Undefined(y *graph.Node, in []float64, v float64) (trait.Fault, bool) {
	return tooLarge("expm1", y, in[0], v)
}
