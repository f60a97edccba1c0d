package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type neg struct{ numbers1 }

// Neg returns −x, element by element, for numbers x.
func Neg(x *graph.Node) *graph.Node { return elementwise(neg{}, x) }

func (neg) Name() string     { return "Neg" }
func (neg) Kind() match.Kind { return match.Neg }
func (neg) Doc() string      { return "negation" }

// Rule returns the name of the rule of its derivative.
func (neg) Rule(_ []bool) (name string, law expr.Expr) {
	return named("constant factor")
}

func (neg) Grad(y, dy *graph.Node, _ int) *graph.Node { return Neg(dy) }

func (neg) Scalar(x ...float64) float64                      { return -x[0] }
func (neg) Whole(x ...int64) int64                           { return -x[0] }
func (neg) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Neg }
func (neg) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0].Neg() }
func (neg) Cases() []Case                                    { return case1(Neg, Reals) }
