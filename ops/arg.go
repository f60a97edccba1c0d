package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type argMax struct {
	flat
	Axis int
}

// ArgMax returns the indices (i64) of the largest elements of x along an axis, which it removes: of
// x[… c …] along c it makes [… …]. x is of any element type; of a mask it is the first true element.
// Among equal elements the first counts, and a NaN counts as the largest. Of an axis without elements
// there is no largest, which is a mistake unless the result has no elements either. No derivative
// flows through it.
func ArgMax(x *graph.Node, axis any) *graph.Node {
	return withAxes("ArgMax", x, []any{axis}, func(list []int) *graph.Node { return graph.Apply(argMax{Axis: list[0]}, x) })
}

type argMin struct {
	flat
	Axis int
}

// ArgMin returns the indices (i64) of the smallest elements of x along an axis; it is otherwise
// like [ArgMax]. A NaN counts as the smallest.
func ArgMin(x *graph.Node, axis any) *graph.Node {
	return withAxes("ArgMin", x, []any{axis}, func(list []int) *graph.Node { return graph.Apply(argMin{Axis: list[0]}, x) })
}

func inferArg(in []*graph.Node, axis int) (graph.Type, error) {
	if err := wantAxis(in, axis); err != nil {
		return graph.Type{}, err
	}
	s, err := dropAxis(in[0].Shape(), axis, false)
	if err == nil {
		err = wantAny(in[0], axis, s)
	}
	return graph.Type{DType: graph.I64, Shape: s}, err
}

// wantAxis wants one operand, which has the axis.
func wantAxis(in []*graph.Node, axis int) error {
	if err := arity(in, 1); err != nil {
		return err
	}
	if axis < 0 || axis >= in[0].Rank() {
		return fmt.Errorf("axis %d of %v", axis, in[0].Shape())
	}
	return nil
}

// wantAny refuses to choose among no elements of x along an axis, where the result, of shape to, has
// elements.
func wantAny(x *graph.Node, axis int, to graph.Shape) error {
	if x.Dim(axis) > 0 || to.Len() == 0 {
		return nil
	}
	return &graph.Mistake{Problem: fmt.Sprintf("axis %v has no element to choose", x.Shape().Axis(axis)), Fix: "join one with ops.Concat"}
}

func evalArg(y *graph.Node, x graph.Value, axis int, better func(a, b float64) bool) graph.Value {
	out := graph.NewValue(y.Type())
	best := make([]float64, len(out.Data))
	kept, _ := dropAxis(x.Type.Shape, axis, true)
	p := 0
	walk(x.Type.Shape, func(ix []int) {
		q, v := at(kept, ix), x.Data[p]
		p++
		if ix[axis] == 0 || best[q] == best[q] && (v != v || better(v, best[q])) {
			best[q], out.Data[q] = v, float64(ix[axis])
		}
	})
	return out
}

func (argMax) Name() string                                  { return "ArgMax" }
func (argMax) Kind() match.Kind                              { return match.ArgMax }
func (argMax) Doc() string                                   { return "index of the largest element along an axis" }
func (op argMax) Infer(in []*graph.Node) (graph.Type, error) { return inferArg(in, op.Axis) }
func (op argMax) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(argMax{Axis: op.Axis + 1}, in[0])
}
func (op argMax) Kernel(*graph.Node) kernel.Kernel { return kernel.Arg{Max: true, Axis: op.Axis} }
func (argMax) Cases() []Case                       { return argCases(ArgMax) }
func (op argMax) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Big("argmax", indices(y.In(0), attr.AxesOf(op.Axis)), in[0])
}
func (op argMax) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return evalArg(y, in[0], op.Axis, func(a, b float64) bool { return a > b })
}

func (argMin) Name() string                                  { return "ArgMin" }
func (argMin) Kind() match.Kind                              { return match.ArgMin }
func (argMin) Doc() string                                   { return "index of the smallest element along an axis" }
func (op argMin) Infer(in []*graph.Node) (graph.Type, error) { return inferArg(in, op.Axis) }
func (op argMin) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(argMin{Axis: op.Axis + 1}, in[0])
}
func (op argMin) Kernel(*graph.Node) kernel.Kernel { return kernel.Arg{Axis: op.Axis} }
func (argMin) Cases() []Case                       { return argCases(ArgMin) }
func (op argMin) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Big("argmin", indices(y.In(0), attr.AxesOf(op.Axis)), in[0])
}
func (op argMin) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return evalArg(y, in[0], op.Axis, func(a, b float64) bool { return a < b })
}

func argCases(f func(*graph.Node, any) *graph.Node) []Case {
	return []Case{
		{[]Operand{{"float[i=3 j=4]", Apart}}, func(in []*graph.Node) *graph.Node { return f(in[0], "j") }},
		{[]Operand{{"float[i=3 j=4]", Apart}}, func(in []*graph.Node) *graph.Node { return f(in[0], 0) }},
		{[]Operand{{"i64[i=5]", Index(3)}}, func(in []*graph.Node) *graph.Node { return f(in[0], 0) }},
		{[]Operand{{"bool[i=5]", Truth}}, func(in []*graph.Node) *graph.Node { return f(in[0], 0) }},
	}
}
