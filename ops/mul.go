package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"math"
)

type mul struct{ numbers2 }

// Mul returns the product of arrays of numbers, element by element (Hadamard's product), with
// broadcasting: a·b, or of more operands ((a·b)·c)·…, multiplied in the order in which they are given.
// One operand is returned as it is, and none is a mistake. The matrix product, which gorgonia calls
// Mul, is [MatMul].
func Mul(xs ...*graph.Node) *graph.Node { return fromLeft(mul{}, xs) }

func (mul) Name() string     { return "Mul" }
func (mul) Kind() match.Kind { return match.Mul }
func (mul) Commutes()        {}
func (mul) Doc() string      { return "product, element by element" }

// Rule returns the name of the rule of its derivative, and the law.
func (mul) Rule(moves []bool) (name string, law expr.Expr) {
	if both(moves) {
		return named("product rule")
	}
	return named("constant factor")
}

func (mul) Grad(y, dy *graph.Node, i int) *graph.Node { return Mul(dy, y.In(1-i)) }

func (mul) Scalar(x ...float64) float64                      { return x[0] * x[1] }
func (mul) Whole(x ...int64) int64                           { return x[0] * x[1] }
func (mul) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Mul }
func (mul) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0].Times(in[1]) }
func (mul) Cases() []Case                                    { return case2(two(Mul), Reals, Reals) }

// Undefined explains the products that are NaN.
func (mul) Undefined(_ *graph.Node, in []float64, v float64) (trait.Fault, bool) {
	return trait.Fault{Cause: "0·∞", Operand: -1}, (in[0] == 0 || in[1] == 0) && math.IsNaN(v)
}
