package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type mean struct {
	Axes attr.AxisSet
	Keep bool
}

// Mean returns the average of floats x over the given axes, or over all without any. It removes
// these axes unless [Keep] is given. The average of no elements is NaN. The mean of a mask is the
// fraction of its true elements, in the graph's default type; integers are converted with [Cast], to a
// float type of one's choice.
func Mean(x *graph.Node, axes ...any) *graph.Node {
	defer calling("Mean", x)()
	if x.IsValid() {
		x = counted(x, x.Graph().DType())
	}
	return reduction("Mean", x, axes, func(set attr.AxisSet, keep bool) *graph.Node {
		return graph.Apply(mean{set, keep}, x)
	})
}

func (mean) Name() string                            { return "Mean" }
func (mean) Kind() match.Kind                        { return match.Mean }
func (op mean) Along() attr.AxisSet                  { return op.Axes }
func (op mean) Twin() graph.Op                       { return mean{op.Axes, !op.Keep} }
func (mean) Linear(i int) bool                       { return i == 0 }
func (mean) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (mean) Doc() string                             { return "average over axes" }

// Rule returns the name of the rule of its derivative, and the law.
func (mean) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("mean of n", nil, []string{"k"}, expr.Num(1).Over(expr.Sym("n")))
}

func (op mean) Infer(in []*graph.Node) (graph.Type, error) {
	return inferReduction(in, op.Axes, op.Keep, wantFloat)
}

// count is the number of elements that meet in each average.
func (op mean) count(y *graph.Node) float64 {
	return float64(y.In(0).Shape().Len()) / float64(y.Shape().Len())
}

func (op mean) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return spread(Div(dy, Lit(dy, op.count(y))), y.In(0), op.Axes)
}

func (mean) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op mean) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(mean{op.Axes << 1, op.Keep}, in[0])
}

func (op mean) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := foldEach(y, in[0], op.Axes, 0, func(acc, v float64) float64 { return acc + v })
	for i := range out.Data {
		out.Data[i] /= op.count(y)
	}
	return out
}

func (op mean) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Reduce{Op: kernel.ReduceMean, Axes: uint8(op.Axes)}
}

func (op mean) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Big("mean", indices(y.In(0), op.Axes), in[0])
}

func (mean) Cases() []Case { return reductionCases(Mean, Reals) }

// Terms returns the operand's elements.
func (mean) Terms(in [][]float64) (terms []float64, what string, ok bool) { return in[0], "Mean", true }
