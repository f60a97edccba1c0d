package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type stopGradient struct {
	flat
	pointwise
}

// StopGradient returns x, of any element type, as a constant to differentiation: no derivative
// flows through it.
func StopGradient(x *graph.Node) *graph.Node { return graph.Apply(stopGradient{}, x) }

func (stopGradient) Name() string                            { return "StopGradient" }
func (stopGradient) Kind() match.Kind                        { return match.StopGradient }
func (stopGradient) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (stopGradient) Doc() string                             { return "the operand, as a constant for differentiation" }
func (stopGradient) Scalar(x ...float64) float64             { return x[0] }

func (stopGradient) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	return in[0].Type(), nil
}

func (stopGradient) View(y *graph.Node) kernel.View {
	return kernel.Reshape{Rank: y.Rank(), Dims: sizes8(y.Shape())}
}

func (stopGradient) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("stop", in[0])
}

func (stopGradient) Cases() []Case {
	return []Case{{[]Operand{{"float[i=3 d=4]", Reals}}, func(in []*graph.Node) *graph.Node { return StopGradient(in[0]) }}}
}
