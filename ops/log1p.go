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

type log1p struct{ floats1 }

// Log1p returns log(1 + x), element by element, for floats x: −∞ at −1, NaN below. It keeps its
// digits where x is near 0.
func Log1p(x *graph.Node) *graph.Node { return elementwise(log1p{}, x) }

func (log1p) Name() string     { return "Log1p" }
func (log1p) Kind() match.Kind { return match.Log1p }
func (log1p) Doc() string      { return "logarithm of 1+x, element by element" }

func (log1p) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, Shift(y.In(0), 1)) }

func (log1p) Scalar(x ...float64) float64      { return math.Log1p(x[0]) }
func (log1p) Kernel(*graph.Node) kernel.Kernel { return kernel.Unary{Function: simd.Log1p} }
func (log1p) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("log", expr.Num(1).Plus(in[0]))
}
func (log1p) Cases() []Case { return case1(Log1p, Positive) }

// Undefined explains the logarithms that are not finite.
func (log1p) Undefined(_ *graph.Node, in []float64, _ float64) (trait.Fault, bool) {
	return noLog("log1p", in[0], -1)
}
