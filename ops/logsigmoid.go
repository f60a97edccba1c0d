package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type logSigmoid struct{ floats1 }

// LogSigmoid returns log σ(x) = −log(1 + e⁻ˣ), element by element, for floats x: the logarithm of
// [Sigmoid] without its underflow and rounding. It is finite for every finite x.
func LogSigmoid(x *graph.Node) *graph.Node { return elementwise(logSigmoid{}, x) }

func (logSigmoid) Name() string                   { return "LogSigmoid" }
func (logSigmoid) Kind() match.Kind               { return match.LogSigmoid }
func (logSigmoid) Magnifies() trait.Magnification { return trait.LargeArguments }
func (logSigmoid) Doc() string                    { return "logarithm of the logistic function, element by element" }

// Grad is dx = dy·σ(−x), which keeps its digits where 1 − σ(x) has none.
func (logSigmoid) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Mul(dy, Sigmoid(Neg(y.In(0))))
}

func (logSigmoid) Scalar(x ...float64) float64      { return -softplusOf(-x[0]) }
func (logSigmoid) Kernel(*graph.Node) kernel.Kernel { return kernel.Unary{Function: simd.LogSigmoid} }
func (logSigmoid) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("log σ", in[0])
}
func (logSigmoid) Cases() []Case { return case1(LogSigmoid, Reals) }
