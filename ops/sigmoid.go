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

type sigmoid struct{ floats1 }

// Sigmoid returns the logistic function σ(x) = 1/(1 + e⁻ˣ), element by element, for floats x.
func Sigmoid(x *graph.Node) *graph.Node { return elementwise(sigmoid{}, x) }

func (sigmoid) Name() string                   { return "Sigmoid" }
func (sigmoid) Kind() match.Kind               { return match.Sigmoid }
func (sigmoid) Magnifies() trait.Magnification { return trait.LargeArguments }
func (sigmoid) Doc() string                    { return "logistic function, element by element" }

// Grad uses y: dx = dy·y·(1 − y).
func (sigmoid) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Mul(y, OneMinus(y))) }

func (sigmoid) Scalar(x ...float64) float64 {
	if x[0] < 0 {
		e := math.Exp(x[0])
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x[0]))
}
func (sigmoid) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Sigmoid} }
func (sigmoid) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("σ", in[0]) }
func (sigmoid) Cases() []Case                                    { return case1(Sigmoid, Reals) }
