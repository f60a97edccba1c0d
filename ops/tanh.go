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

type tanh struct{ floats1 }

// Tanh returns the hyperbolic tangent of x, element by element, for floats x.
func Tanh(x *graph.Node) *graph.Node { return elementwise(tanh{}, x) }

func (tanh) Name() string                   { return "Tanh" }
func (tanh) Kind() match.Kind               { return match.Tanh }
func (tanh) Magnifies() trait.Magnification { return trait.LargeArguments }
func (tanh) Doc() string                    { return "hyperbolic tangent, element by element" }

// Grad uses y rather than x, so that x need not be kept: dx = dy·(1 − y²).
func (tanh) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, OneMinus(Square(y))) }

func (tanh) Scalar(x ...float64) float64                      { return math.Tanh(x[0]) }
func (tanh) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Tanh} }
func (tanh) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("tanh", in[0]) }
func (tanh) Cases() []Case                                    { return case1(Tanh, Reals) }
