package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

type log struct{ floats1 }

// Log is the natural logarithm, element by element.
func Log(x *graph.Node) *graph.Node { return elementwise(log{}, x) }

func (log) Name() string { return "Log" }
func (log) Doc() string  { return "natural logarithm, element by element" }

func (log) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, y.In(0)) }

// Scalar takes numbers below the normal ones apart: package math reads their exponent wrongly on some machines.
func (log) Scalar(x ...float64) float64 {
	if v := x[0]; v > 0 && v < 0x1p-1022 {
		return math.Log(v*0x1p54) - 54*math.Ln2
	}
	return math.Log(x[0])
}

func (log) Kernel(*graph.Node) kernel.Kernel                   { return kernel.Log }
func (log) Notation(_ *graph.Node, in []graph.Expr) graph.Expr { return graph.Call("log", in[0]) }
func (log) Cases() []Case                                      { return case1(Log, Positive) }
