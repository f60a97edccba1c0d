package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type minimum struct{ numbers2 }

// Minimum returns the smaller of a and b, element by element, with broadcasting, for numbers. It is
// NaN if either is. Where they are equal, each takes half of the derivative.
func Minimum(a, b *graph.Node) *graph.Node { return elementwise(minimum{}, a, b) }

func (minimum) Name() string                            { return "Minimum" }
func (minimum) Kind() match.Kind                        { return match.Minimum }
func (minimum) Commutes()                               {}
func (minimum) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (minimum) Doc() string                             { return "smaller of two, element by element" }
func (minimum) Convention() string {
	return "where both are equal, each takes half of the derivative, as in PyTorch"
}

// Grad gives half to each where they are equal.
func (minimum) Grad(y, dy *graph.Node, i int) *graph.Node {
	half := Select(Equal(y.In(0), y.In(1)), Scale(dy, 0.5), Lit(dy, 0))
	return Select(Less(y.In(i), y.In(1-i)), dy, half)
}

func (minimum) Scalar(x ...float64) float64                      { return min(x[0], x[1]) }
func (minimum) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Min }
func (minimum) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("min", in...) }
func (minimum) Cases() []Case                                    { return case2(Minimum, Apart, Apart) }
