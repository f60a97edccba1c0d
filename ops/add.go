package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type add struct{ numbers2 }

// Add returns a + b, element by element, with broadcasting, for numbers.
func Add(a, b *graph.Node) *graph.Node { return elementwise(add{}, a, b) }

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
func (add) Cases() []Case                                    { return case2(Add, Reals, Reals) }

// Undefined explains the NaN of infinite operands.
func (add) Undefined(_ *graph.Node, in []float64, _ float64) (trait.Fault, bool) { return opposed(in) }

// Loses explains cancellation.
func (add) Loses(in [][]float64, y float64) string { return cancelled(in, 1, y) }
