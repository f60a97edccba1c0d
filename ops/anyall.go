package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type anyOver struct {
	flat
	Axes attr.AxisSet
	Keep bool
}

// Any returns the mask that is true where some element of mask x over the given axes is, or over all
// without any. It removes these axes unless [Keep] is given.
func Any(x *graph.Node, axes ...any) *graph.Node {
	return reduction("Any", x, axes, func(set attr.AxisSet, keep bool) *graph.Node {
		return graph.Apply(anyOver{Axes: set, Keep: keep}, x)
	})
}

type allOver struct {
	flat
	Axes attr.AxisSet
	Keep bool
}

// All returns the mask that is true where all elements of mask x over the given axes are, or over all
// without any. It removes these axes unless [Keep] is given.
func All(x *graph.Node, axes ...any) *graph.Node {
	return reduction("All", x, axes, func(set attr.AxisSet, keep bool) *graph.Node {
		return graph.Apply(allOver{Axes: set, Keep: keep}, x)
	})
}

func (anyOver) Name() string           { return "Any" }
func (anyOver) Kind() match.Kind       { return match.Any }
func (op anyOver) Along() attr.AxisSet { return op.Axes }
func (op anyOver) Twin() graph.Op      { return anyOver{Axes: op.Axes, Keep: !op.Keep} }
func (anyOver) Doc() string            { return "whether any element over axes is true" }
func (anyOver) Cases() []Case          { return maskReductionCases(Any) }

func (op anyOver) Infer(in []*graph.Node) (graph.Type, error) {
	return inferReduction(in, op.Axes, op.Keep, wantBool)
}

func (op anyOver) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(anyOver{Axes: op.Axes << 1, Keep: op.Keep}, in[0])
}

func (op anyOver) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return foldEach(y, in[0], op.Axes, 0, func(acc, v float64) float64 { return max(acc, v) })
}

func (op anyOver) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Reduce{Op: kernel.ReduceMax, Axes: uint8(op.Axes)}
}

func (op anyOver) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Big("any", indices(y.In(0), op.Axes), in[0])
}

func (allOver) Name() string           { return "All" }
func (allOver) Kind() match.Kind       { return match.All }
func (op allOver) Along() attr.AxisSet { return op.Axes }
func (op allOver) Twin() graph.Op      { return allOver{Axes: op.Axes, Keep: !op.Keep} }
func (allOver) Doc() string            { return "whether all elements over axes are true" }
func (allOver) Cases() []Case          { return maskReductionCases(All) }

func (op allOver) Infer(in []*graph.Node) (graph.Type, error) {
	return inferReduction(in, op.Axes, op.Keep, wantBool)
}

func (op allOver) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(allOver{Axes: op.Axes << 1, Keep: op.Keep}, in[0])
}

func (op allOver) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return foldEach(y, in[0], op.Axes, 1, func(acc, v float64) float64 { return min(acc, v) })
}

func (op allOver) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Reduce{Op: kernel.ReduceMin, Axes: uint8(op.Axes)}
}

func (op allOver) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Big("all", indices(y.In(0), op.Axes), in[0])
}

func maskReductionCases(f func(x *graph.Node, axes ...any) *graph.Node) []Case {
	over := func(axes ...any) Case {
		return Case{[]Operand{{"bool[i=3 j=2 d=2]", Truth}}, func(in []*graph.Node) *graph.Node { return f(in[0], axes...) }}
	}
	return []Case{over(), over("j"), over(-1, Keep), over("i", "d"), over(0)}
}
