package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type maximum struct{ numbers2 }

// Maximum returns the larger of a and b, element by element, with broadcasting, for numbers. It is
// NaN if either is. Where they are equal, each takes half of the derivative.
func Maximum(a, b *graph.Node) *graph.Node { return elementwise(maximum{}, a, b) }

func (maximum) Name() string                            { return "Maximum" }
func (maximum) Kind() match.Kind                        { return match.Maximum }
func (maximum) Commutes()                               {}
func (maximum) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (maximum) Doc() string                             { return "larger of two, element by element" }
func (maximum) Convention() string {
	return "where both are equal, each takes half of the derivative, as in PyTorch"
}

// Grad gives half to each where they are equal.
func (maximum) Grad(y, dy *graph.Node, i int) *graph.Node {
	half := Select(Equal(y.In(0), y.In(1)), Scale(dy, 0.5), Lit(dy, 0))
	return Select(Less(y.In(1-i), y.In(i)), dy, half)
}

func (maximum) Scalar(x ...float64) float64                      { return max(x[0], x[1]) }
func (maximum) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Max }
func (maximum) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("max", in...) }
func (maximum) Cases() []Case                                    { return case2(Maximum, Apart, Apart) }
