package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type sub struct{ numbers2 }

// Sub returns a − b, element by element, with broadcasting, for numbers.
func Sub(a, b *graph.Node) *graph.Node { return elementwise(sub{}, a, b) }

func (sub) Name() string     { return "Sub" }
func (sub) Kind() match.Kind { return match.Sub }
func (sub) Doc() string      { return "difference of two arrays" }

// Rule returns the name of the rule of its derivative.
func (sub) Rule(_ []bool) (name string, law expr.Expr) {
	return named("sum rule")
}

func (sub) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i == 0 {
		return dy
	}
	return Neg(dy)
}

func (sub) Scalar(x ...float64) float64                      { return x[0] - x[1] }
func (sub) Whole(x ...int64) int64                           { return x[0] - x[1] }
func (sub) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Sub }
func (sub) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0].Minus(in[1]) }
func (sub) Cases() []Case                                    { return case2(Sub, Reals, Reals) }

// Undefined explains the NaN of infinite operands.
func (sub) Undefined(_ *graph.Node, in []float64, _ float64) (trait.Fault, bool) { return opposed(in) }

// Loses explains what cancels.
func (sub) Loses(in [][]float64, y float64) string { return cancelled(in, -1, y) }

// Blames takes no small difference for one of small numbers.
func (sub) Blames(w trait.Wrong, c, v float64) bool {
	return w != trait.Zero && trait.ByMagnitude(w, c, v)
}
