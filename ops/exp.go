package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type exp struct{ floats1 }

// Exp returns eˣ, element by element, for floats x.
func Exp(x *graph.Node) *graph.Node { return elementwise(exp{}, x) }

func (exp) Name() string     { return "Exp" }
func (exp) Kind() match.Kind { return match.Exp }
func (exp) Doc() string      { return "exponential, element by element" }

func (exp) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, y) }

func (exp) Scalar(x ...float64) float64                      { return math.Exp(x[0]) }
func (exp) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Exp} }
func (exp) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Sym("e").Pow(in[0]) }
func (exp) Cases() []Case                                    { return case1(Exp, Reals) }

// Undefined explains overflow.
func (exp) Undefined(y *graph.Node, in []float64, v float64) (trait.Fault, bool) {
	return tooLarge("exp", y, in[0], v)
}

// Blames blames a negative operand for a 0, and one beyond ±8 for an extreme result.
func (exp) Blames(w trait.Wrong, c, v float64) bool {
	switch w {
	case trait.Zero:
		return c < 0 || trait.ByMagnitude(w, c, v)
	case trait.Extreme:
		return math.Abs(c) > 8
	}
	return false
}

// Loses explains how an error of a large argument grows.
func (exp) Loses(in [][]float64, _ float64) string {
	if x := in[0]; len(x) == 1 && math.Abs(x[0]) > 3 {
		return fmt.Sprintf("large argument: exp(%s) magnifies a relative error %s times", trait.Number(x[0]), trait.Rough(math.Abs(x[0])))
	}
	return ""
}
