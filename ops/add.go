package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

type add struct{ numbers2 }

// Add is a + b with broadcasting.
func Add(a, b *graph.Node) *graph.Node { return elementwise(add{}, a, b) }

func (add) Name() string { return "Add" }
func (add) Doc() string  { return "sum of two arrays" }

// Rule names what its derivative follows from.
func (add) Rule(_ []bool) (name string, law graph.Expr) {
	return named("sum rule")
}

func (add) Grad(y, dy *graph.Node, _ int) *graph.Node { return dy }

func (add) Scalar(x ...float64) float64                        { return x[0] + x[1] }
func (add) Whole(x ...int64) int64                             { return x[0] + x[1] }
func (add) Kernel(*graph.Node) kernel.Kernel                   { return kernel.Add }
func (add) Notation(_ *graph.Node, in []graph.Expr) graph.Expr { return in[0].Plus(in[1]) }
func (add) Cases() []Case                                      { return case2(Add, Reals, Reals) }
