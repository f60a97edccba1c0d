package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// A maximum or minimum is taken over one axis at a time, the last first, so
// that of equal elements the first in row-major order counts.

type maxOver struct {
	Axis int
	Keep bool
}

// Max returns the largest element of numbers x over the given axes, or over all without any. It
// removes these axes unless [Keep] is given. The result is NaN if any element is. Of equal
// elements, the first takes the derivative. Of no elements there is no largest: that is a mistake,
// unless the result has no elements either.
func Max(x *graph.Node, axes ...any) *graph.Node {
	return extremum("Max", x, axes, func(a int, keep bool) graph.Op { return maxOver{a, keep} })
}

type minOver struct {
	Axis int
	Keep bool
}

// Min returns the smallest element of numbers x over the given axes, or over all without any. It
// removes these axes unless [Keep] is given. The result is NaN if any element is. Of equal
// elements, the first takes the derivative.
func Min(x *graph.Node, axes ...any) *graph.Node {
	return extremum("Min", x, axes, func(a int, keep bool) graph.Op { return minOver{a, keep} })
}

func extremum(what string, x *graph.Node, axes []any, op func(axis int, keep bool) graph.Op) *graph.Node {
	return reduction(what, x, axes, func(set attr.AxisSet, keep bool) *graph.Node {
		list := set.List()
		for i := len(list) - 1; i >= 0; i-- {
			x = graph.Apply(op(list[i], keep), x)
		}
		return x
	})
}

func inferExtremum(in []*graph.Node, axis int, keep bool) (graph.Type, error) {
	if axis < 0 || axis >= graph.MaxRank {
		return graph.Type{}, fmt.Errorf("axis %d", axis)
	}
	typ, err := inferReduction(in, attr.AxesOf(axis), keep, wantNumber)
	if err == nil {
		err = wantAny(in[0], axis, typ.Shape)
	}
	return typ, err
}

// gradExtremum sends dy to the element that was chosen.
func gradExtremum(y, dy *graph.Node, axis int, chosen *graph.Node) *graph.Node {
	x := y.In(0)
	hot := OneHot(chosen, axis, x.Shape().Axis(axis), dy.DType())
	return Mul(hot, spread(dy, x, attr.AxesOf(axis)))
}

// jvpExtremum takes the tangent of the element that was chosen.
func jvpExtremum(y, dx *graph.Node, axis int, keep bool, chosen *graph.Node) *graph.Node {
	hot := OneHot(chosen, axis, y.In(0).Shape().Axis(axis), dx.DType())
	return graph.Apply(sum{attr.AxesOf(axis), keep}, Mul(hot, dx))
}

func (maxOver) Name() string                            { return "Max" }
func (maxOver) Kind() match.Kind                        { return match.Max }
func (op maxOver) Along() attr.AxisSet                  { return attr.AxesOf(op.Axis) }
func (op maxOver) Twin() graph.Op                       { return maxOver{op.Axis, !op.Keep} }
func (maxOver) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (maxOver) Doc() string                             { return "largest element over an axis" }

// Rule returns the name of the rule of its derivative, and the law.
func (maxOver) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("the largest counts", nil, []string{"k"}, bracket("=", []expr.Expr{expr.Sym("k"), expr.Sym("argmax u")}))
}

func (maxOver) Convention() string {
	return "of equal largest elements the first takes the whole derivative, as with max(dim) in PyTorch; its amax shares equally"
}
func (op maxOver) Infer(in []*graph.Node) (graph.Type, error) {
	return inferExtremum(in, op.Axis, op.Keep)
}
func (op maxOver) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return gradExtremum(y, dy, op.Axis, ArgMax(y.In(0), op.Axis))
}
func (op maxOver) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return jvpExtremum(y, dx[0], op.Axis, op.Keep, ArgMax(y.In(0), op.Axis))
}
func (op maxOver) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(maxOver{op.Axis + 1, op.Keep}, in[0])
}
func (op maxOver) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return foldEach(y, in[0], attr.AxesOf(op.Axis), math.Inf(-1), func(a, b float64) float64 { return max(a, b) })
}
func (op maxOver) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Reduce{Op: kernel.ReduceMax, Axes: 1 << op.Axis}
}
func (op maxOver) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Big("max", indices(y.In(0), attr.AxesOf(op.Axis)), in[0])
}
func (maxOver) Cases() []Case { return reductionCases(Max, Apart) }

func (minOver) Name() string                            { return "Min" }
func (minOver) Kind() match.Kind                        { return match.Min }
func (op minOver) Along() attr.AxisSet                  { return attr.AxesOf(op.Axis) }
func (op minOver) Twin() graph.Op                       { return minOver{op.Axis, !op.Keep} }
func (minOver) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (minOver) Doc() string                             { return "smallest element over an axis" }

// Rule returns the name of the rule of its derivative, and the law.
func (minOver) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("the smallest counts", nil, []string{"k"}, bracket("=", []expr.Expr{expr.Sym("k"), expr.Sym("argmin u")}))
}

func (minOver) Convention() string {
	return "of equal smallest elements the first takes the whole derivative, as with min(dim) in PyTorch; its amin shares equally"
}
func (op minOver) Infer(in []*graph.Node) (graph.Type, error) {
	return inferExtremum(in, op.Axis, op.Keep)
}
func (op minOver) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return gradExtremum(y, dy, op.Axis, ArgMin(y.In(0), op.Axis))
}
func (op minOver) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return jvpExtremum(y, dx[0], op.Axis, op.Keep, ArgMin(y.In(0), op.Axis))
}
func (op minOver) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(minOver{op.Axis + 1, op.Keep}, in[0])
}
func (op minOver) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return foldEach(y, in[0], attr.AxesOf(op.Axis), math.Inf(1), func(a, b float64) float64 { return min(a, b) })
}
func (op minOver) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Reduce{Op: kernel.ReduceMin, Axes: 1 << op.Axis}
}
func (op minOver) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Big("min", indices(y.In(0), attr.AxesOf(op.Axis)), in[0])
}
func (minOver) Cases() []Case { return reductionCases(Min, Apart) }
