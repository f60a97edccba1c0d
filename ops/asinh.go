package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type asinh struct{ floats1 }

// Asinh returns the inverse hyperbolic sine log(x + √(x²+1)), element by element, for floats x.
// Near 0 it is x, far from 0 it grows like a logarithm, with the sign of x. Its error is at most
// 2.5 units in the last place.
func Asinh(x *graph.Node) *graph.Node { return elementwise(asinh{}, x) }

func (asinh) Name() string     { return "Asinh" }
func (asinh) Kind() match.Kind { return match.Asinh }
func (asinh) Doc() string      { return "inverse hyperbolic sine, element by element" }

func (asinh) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Div(dy, Sqrt(Shift(Square(y.In(0)), 1)))
}

func (asinh) Scalar(x ...float64) float64                      { return math.Asinh(x[0]) }
func (asinh) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Asinh} }
func (asinh) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("asinh", in[0]) }
func (asinh) Cases() []Case                                    { return case1(Asinh, Reals) }
