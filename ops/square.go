package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type square struct{ floats1 }

// Square returns x², element by element, for floats x.
func Square(x *graph.Node) *graph.Node { return elementwise(square{}, x) }

func (square) Name() string     { return "Square" }
func (square) Kind() match.Kind { return match.Square }
func (square) Doc() string      { return "square, element by element" }

// Rule returns the name of the rule of its derivative.
func (square) Rule(_ []bool) (name string, law expr.Expr) {
	return named("power rule")
}

func (square) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(Scale(y.In(0), 2), dy) }

func (square) Scalar(x ...float64) float64                      { return x[0] * x[0] }
func (square) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Square }
func (square) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0].Pow(expr.Num(2)) }
func (square) Cases() []Case                                    { return case1(Square, Reals) }
