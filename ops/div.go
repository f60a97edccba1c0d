package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"math"
)

type div struct{ floats2 }

// Div returns a/b, element by element, with broadcasting, for floats. Integers are a mistake: their
// quotients are not integers.
func Div(a, b *graph.Node) *graph.Node { return elementwise(div{}, a, b) }

func (div) Name() string     { return "Div" }
func (div) Kind() match.Kind { return match.Div }
func (div) Doc() string      { return "quotient, element by element" }

// Rule returns the name of the rule of its derivative, and the law.
func (div) Rule(moves []bool) (name string, law expr.Expr) {
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

func (div) Scalar(x ...float64) float64                      { return x[0] / x[1] }
func (div) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Div }
func (div) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0].Over(in[1]) }
func (div) Cases() []Case                                    { return case2(Div, Reals, Positive) }

// Undefined explains the quotients that are not finite.
func (div) Undefined(_ *graph.Node, in []float64, _ float64) (trait.Fault, bool) {
	switch {
	case in[1] == 0 && in[0] == 0:
		return trait.Fault{Cause: "0/0", Operand: 1, Wrong: trait.Zero}, true
	case in[1] == 0:
		return trait.Fault{Cause: "division by zero: " + trait.Number(in[0]) + "/0", Operand: 1, Wrong: trait.Zero}, true
	case math.IsInf(in[0], 0) && math.IsInf(in[1], 0):
		return trait.Fault{Cause: "∞/∞", Operand: 1, Wrong: trait.Extreme}, true
	}
	return trait.Fault{}, false
}

// Overflow blames the divisor.
func (div) Overflow(in []float64) (trait.Fault, bool) {
	return trait.Fault{Cause: "the divisor is tiny", Operand: 1, Wrong: trait.Zero}, math.Abs(in[1]) < 1
}
