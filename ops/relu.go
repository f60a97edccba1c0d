package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type relu struct{ floats1 }

// ReLU returns max(x, 0), element by element, for floats x. Its derivative at 0 is 0.
func ReLU(x *graph.Node) *graph.Node {
	defer calling("ReLU", x)()
	return elementwise(relu{}, x)
}

func (relu) Name() string       { return "Relu" }
func (relu) Kind() match.Kind   { return match.Relu }
func (relu) Doc() string        { return "positive part, element by element" }
func (relu) Convention() string { return "relu'(0) = 0, as in PyTorch" }

// Grad is 0 at 0.
func (relu) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Select(Less(Lit(y, 0), y), dy, Lit(y, 0))
}

func (relu) Scalar(x ...float64) float64                      { return max(x[0], 0) }
func (relu) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Relu }
func (relu) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("relu", in[0]) }
func (relu) Cases() []Case                                    { return case1(ReLU, Apart) }
