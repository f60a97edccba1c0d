package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type sqrt struct{ floats1 }

// Sqrt returns √x, element by element, for floats x: NaN below 0.
func Sqrt(x *graph.Node) *graph.Node { return elementwise(sqrt{}, x) }

func (sqrt) Name() string     { return "Sqrt" }
func (sqrt) Kind() match.Kind { return match.Sqrt }
func (sqrt) Doc() string      { return "square root, element by element" }

// Grad uses y: dx = dy / 2y.
func (sqrt) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, Scale(y, 2)) }

func (sqrt) Scalar(x ...float64) float64                      { return math.Sqrt(x[0]) }
func (sqrt) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Sqrt }
func (sqrt) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("√", in[0]) }
func (sqrt) Cases() []Case                                    { return case1(Sqrt, Positive) }

// Undefined explains the roots that are not finite.
func (sqrt) Undefined(_ *graph.Node, in []float64, _ float64) (trait.Fault, bool) {
	return trait.Fault{Cause: "square root of a negative: sqrt(" + trait.Number(in[0]) + ")", Operand: 0, Wrong: trait.Negative}, in[0] < 0
}
