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

type softplus struct{ floats1 }

// Softplus returns log(1 + eˣ), a smooth [ReLU], element by element, for floats x. It never
// overflows, and keeps its digits where x is very negative, as do its derivatives of every order.
func Softplus(x *graph.Node) *graph.Node { return elementwise(softplus{}, x) }

func (softplus) Name() string                   { return "Softplus" }
func (softplus) Kind() match.Kind               { return match.Softplus }
func (softplus) Magnifies() trait.Magnification { return trait.LargeArguments }
func (softplus) Doc() string                    { return "log(1 + eˣ), element by element" }

func (softplus) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Sigmoid(y.In(0))) }

func (softplus) Scalar(x ...float64) float64      { return softplusOf(x[0]) }
func (softplus) Kernel(*graph.Node) kernel.Kernel { return kernel.Unary{Function: simd.Softplus} }
func (softplus) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("softplus", in[0])
}
func (softplus) Cases() []Case { return case1(Softplus, Reals) }

// softplusOf never takes the exponential of a positive number. A NaN stays one.
func softplusOf(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
