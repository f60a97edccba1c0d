package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type cos struct{ floats1 }

// Cos returns the cosine of x, element by element, for floats x in radians.
func Cos(x *graph.Node) *graph.Node { return elementwise(cos{}, x) }

func (cos) Name() string     { return "Cos" }
func (cos) Kind() match.Kind { return match.Cos }
func (cos) Doc() string      { return "cosine, element by element" }

func (cos) Grad(y, dy *graph.Node, _ int) *graph.Node { return Neg(Mul(dy, Sin(y.In(0)))) }

func (cos) Scalar(x ...float64) float64                      { return math.Cos(x[0]) }
func (cos) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Cos} }
func (cos) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("cos", in[0]) }
func (cos) Cases() []Case                                    { return case1(Cos, Reals) }

// Loses explains the loss of digits with a large argument.
func (cos) Loses(in [][]float64, _ float64) string { return manyRadians("cos", in) }
