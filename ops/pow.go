package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type pow struct{ floats2 }

// Pow returns aᵇ, element by element, with broadcasting, for floats. As in [math.Pow], a negative a
// gives NaN unless b is a whole number, and b = 0 gives 1 whatever a is. Its derivative by a is
// b·aᵇ⁻¹, and 0 where b is 0; by b it is aᵇ·log a: 0 where a is 0, and NaN where a is negative.
func Pow(a, b *graph.Node) *graph.Node { return elementwise(pow{}, a, b) }

func (pow) Name() string     { return "Pow" }
func (pow) Kind() match.Kind { return match.Pow }
func (pow) Doc() string      { return "power, element by element" }

// Rule returns the name of the rule of its derivative.
func (pow) Rule(_ []bool) (name string, law expr.Expr) {
	return named("power rule")
}

func (pow) Convention() string { return "the derivative of 0^b by b is 0, as in PyTorch" }

// Grad by a is dy·b·aᵇ⁻¹, and 0 where b is 0, also at a = 0; by b it is dy·y·log a, and 0 where a
// is 0. The side that a mask does not choose is kept finite, because a further derivative
// multiplies it by 0.
func (pow) Grad(y, dy *graph.Node, i int) *graph.Node {
	a, b := y.In(0), y.In(1)
	if i == 0 {
		c := Shift(b, -1)
		if v, ok := match.Literal(b); !ok || v == 0 {
			c = Select(Equal(b, Lit(b, 0)), Lit(b, 0), c)
		}
		return Mul(dy, Mul(b, Pow(a, c)))
	}
	zero := Equal(a, Lit(a, 0))
	return Mul(dy, Select(zero, Lit(a, 0), Mul(y, Log(Select(zero, Lit(a, 1), a)))))
}

func (pow) Scalar(x ...float64) float64                      { return math.Pow(x[0], x[1]) }
func (pow) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Zip{Of: math.Pow, Wide: kernel.WidePow} }
func (pow) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0].Pow(in[1]) }
func (pow) Cases() []Case                                    { return case2(Pow, Positive, Reals) }

// Undefined explains the powers that are not finite.
func (pow) Undefined(_ *graph.Node, in []float64, v float64) (trait.Fault, bool) {
	switch {
	case in[0] < 0 && math.IsNaN(v):
		cause := fmt.Sprintf("a power of a negative that is no whole number: %s^%s", trait.Number(in[0]), trait.Number(in[1]))
		return trait.Fault{Cause: cause, Operand: 0, Wrong: trait.Negative}, true
	case in[0] == 0:
		return trait.Fault{Cause: "a negative power of zero: 0^" + trait.Number(in[1]), Operand: 0, Wrong: trait.Zero}, true
	}
	return trait.Fault{}, false
}
