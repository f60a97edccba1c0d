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

func (log) Scalar(x ...float64) float64                        { return math.Log(x[0]) }
func (log) Kernel(*graph.Node) kernel.Kernel                   { return kernel.Log }
func (log) Notation(_ *graph.Node, in []graph.Expr) graph.Expr { return graph.Call("log", in[0]) }
func (log) Cases() []Case                                      { return case1(Log, Positive) }
