package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type add struct{ numbers2 }

// Add returns the sum of arrays of numbers, element by element, with broadcasting: a + b, or of more
// operands ((a + b) + c) + …, added in the order in which they are given. One operand is returned as
// it is, and none is a mistake.
func Add(xs ...*graph.Node) *graph.Node { return fromLeft(add{}, xs) }

// fromLeft applies an operation of two operands from left to right.
func fromLeft(op graph.Op, xs []*graph.Node) *graph.Node {
	if len(xs) == 2 {
		return elementwise(op, xs...)
	}
	g := graph.Of(xs...)
	if len(xs) == 0 || xs[0] == nil {
		return g.Apply(op, xs...)
	}
	y := xs[0]
	if len(xs) > 2 && !slices.Contains(xs, nil) {
		if err := meet(xs...); err != nil {
			return g.Fail(op.Name(), err, xs...)
		}
	}
	for _, x := range xs[1:] {
		y = elementwise(op, y, x)
	}
	return y
}

func (add) Name() string                            { return "Add" }
func (add) Kind() match.Kind                        { return match.Add }
func (add) Commutes()                               {}
func (add) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (add) Doc() string                             { return "sum of two arrays" }

// Rule returns the name of the rule of its derivative.
func (add) Rule(_ []bool) (name string, law expr.Expr) {
	return named("sum rule")
}

func (add) Grad(y, dy *graph.Node, _ int) *graph.Node { return dy }

func (add) Scalar(x ...float64) float64                      { return x[0] + x[1] }
func (add) Whole(x ...int64) int64                           { return x[0] + x[1] }
func (add) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Add }
func (add) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0].Plus(in[1]) }
func (add) Cases() []Case                                    { return case2(two(Add), Reals, Reals) }

// Undefined explains the NaN of infinite operands.
func (add) Undefined(_ *graph.Node, in []float64, _ float64) (trait.Fault, bool) { return opposed(in) }

// Loses explains cancellation.
func (add) Loses(in [][]float64, y float64) string { return cancelled(in, 1, y) }
