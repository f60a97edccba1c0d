package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

type div struct{ floats2 }

// Div is a/b, element by element, with broadcasting.
func Div(a, b *graph.Node) *graph.Node { return elementwise(div{}, a, b) }

func (div) Name() string { return "Div" }
func (div) Doc() string  { return "quotient, element by element" }

// Rule names what its derivative follows from.
func (div) Rule(moves []bool) (name string, law graph.Expr) {
	if moves[1] {
		return named("quotient rule")
	}
	return named("constant divisor")
}

func (div) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i == 0 {
		return Div(dy, y.In(1))
	}
	return Neg(Div(Mul(dy, y), y.In(1)))
}

func (div) Scalar(x ...float64) float64                        { return x[0] / x[1] }
func (div) Kernel(*graph.Node) kernel.Kernel                   { return kernel.Div }
func (div) Notation(_ *graph.Node, in []graph.Expr) graph.Expr { return in[0].Over(in[1]) }
func (div) Cases() []Case                                      { return case2(Div, Reals, Positive) }
