package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type log struct{ floats1 }

// Log returns the natural logarithm of x, element by element, for floats x: −∞ at 0, NaN below.
func Log(x *graph.Node) *graph.Node { return elementwise(log{}, x) }

func (log) Name() string     { return "Log" }
func (log) Kind() match.Kind { return match.Log }
func (log) Doc() string      { return "natural logarithm, element by element" }

func (log) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, y.In(0)) }

// Scalar takes numbers below the normal ones apart: package math reads their exponent wrongly on
// some machines.
func (log) Scalar(x ...float64) float64 {
	if v := x[0]; v > 0 && v < 0x1p-1022 {
		return math.Log(v*0x1p54) - 54*math.Ln2
	}
	return math.Log(x[0])
}

func (log) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Log} }
func (log) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("log", in[0]) }
func (log) Cases() []Case                                    { return case1(Log, Positive) }

// Undefined explains the logarithms that are not finite.
func (op log) Undefined(_ *graph.Node, in []float64, _ float64) (trait.Fault, bool) {
	return noLog("log", in[0], 0)
}

// Loses explains the loss of digits where x is near 1.
func (log) Loses(in [][]float64, _ float64) string {
	if x := in[0]; len(x) == 1 && math.Abs(x[0]-1) < 0.3 {
		return fmt.Sprintf("cancellation inside: log(%s) near 1 keeps the error of the 1", trait.Number(x[0]))
	}
	return ""
}
