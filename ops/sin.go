package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type sin struct{ floats1 }

// Sin returns the sine of x, element by element, for floats x in radians.
func Sin(x *graph.Node) *graph.Node { return elementwise(sin{}, x) }

func (sin) Name() string     { return "Sin" }
func (sin) Kind() match.Kind { return match.Sin }
func (sin) Doc() string      { return "sine, element by element" }

func (sin) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Cos(y.In(0))) }

func (sin) Scalar(x ...float64) float64                      { return math.Sin(x[0]) }
func (sin) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Sin} }
func (sin) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("sin", in[0]) }
func (sin) Cases() []Case                                    { return case1(Sin, Reals) }

// Loses explains the loss of digits with a large argument.
func (sin) Loses(in [][]float64, _ float64) string { return manyRadians("sin", in) }
