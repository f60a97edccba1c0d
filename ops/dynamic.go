package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// dynamicSlice is a part of an array along an axis, from a place that is an operand. The axes of the
// place are the first of the array.
type dynamicSlice struct{ Axis, Size int }

// DynamicSlice returns size elements along an axis of x from a place that is computed: elements start,
// start+1, …, start+size−1. The place is i32 or i64, and a scalar; or it has the first axes of x, which
// come before the given one, and each part has a place of its own, as crops of a batch of images have.
// x is of any element type, and the axis keeps its name. A place outside of 0 to n − size, for an axis
// of n elements, is a [trait.IndexError] when the program runs, and a mistake if it is a constant; the
// dynamic_slice of JAX takes the nearest place instead, as [Clip] of the place does. The derivative
// lies in zeros, at the same place; see [DynamicUpdate]. Where the place is known when the graph is
// built, [Slice] moves nothing.
func DynamicSlice(x, start *graph.Node, size int, axis any) *graph.Node {
	defer calling("DynamicSlice", x, start)()
	in, ok := joined(x, start)
	if !ok {
		return graph.Apply(dynamicSlice{}, in...) // records the mistake, or stays silent
	}
	return withAxes("DynamicSlice", in[0], []any{axis}, func(list []int) *graph.Node {
		return placed(graph.Apply(dynamicSlice{list[0], size}, in...))
	})
}

// DynamicUpdate returns x with a part in place of the elements from start on along an axis; it writes
// what [DynamicSlice] reads, and takes places as it does. The part has x's shape but for the size, and
// the name, of that axis, and x's element type, which may be any. The derivative by x is 0 where the
// part lies. Where x has no other use, the tape writes the part into it.
func DynamicUpdate(x, start, part *graph.Node, axis any) *graph.Node {
	defer calling("DynamicUpdate", x, start, part)()
	in, ok := joined(x, start, part)
	if !ok {
		return graph.Apply(dynamicUpdate{}, in...) // records the mistake, or stays silent
	}
	return withAxes("DynamicUpdate", in[0], []any{axis}, func(list []int) *graph.Node {
		if _, err := alongside(in[2].Shape(), in[0].Shape(), list[0]); err != nil {
			return in[0].Graph().Fail("DynamicUpdate", fmt.Errorf("a part %w", err), in...)
		}
		return placed(graph.Apply(dynamicUpdate{list[0]}, in...))
	})
}

func (dynamicSlice) Name() string                            { return "DynamicSlice" }
func (dynamicSlice) Kind() match.Kind                        { return match.DynamicSlice }
func (dynamicSlice) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (dynamicSlice) Doc() string                             { return "a part of an array along an axis, from a computed place" }

// Rule returns the name of the rule of its derivative.
func (dynamicSlice) Rule(_ []bool) (name string, law expr.Expr) {
	return named("what is not taken counts 0")
}

func (op dynamicSlice) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	axes, err := dynamicAxes(in[0], in[1], op.Axis, op.Size)
	if err != nil {
		return graph.Type{}, err
	}
	axes[op.Axis].Size = op.Size
	s, err := graph.NewShape(axes...)
	return graph.Type{DType: in[0].DType(), Shape: s}, err
}

// dynamicAxes are the axes of an array of which so many elements along an axis are read or written from
// a place on.
func dynamicAxes(x, start *graph.Node, axis, size int) ([]graph.Axis, error) {
	s := x.Shape()
	if axis < 0 || axis >= s.Rank() {
		return nil, fmt.Errorf("axis %d of %v", axis, s)
	}
	if err := wantIndex(start); err != nil {
		return nil, err
	}
	if n := s.Axis(axis); size < 0 || size > n.Size {
		return nil, fmt.Errorf("%d elements of axis %v", size, n)
	}
	fits := start.Rank() <= axis
	for a := 0; fits && a < start.Rank(); a++ {
		fits = start.Dim(a) == s.Dim(a)
	}
	if !fits {
		return nil, fmt.Errorf("places of shape %v: want a scalar, or the first axes of %v, before %v", start.Shape(), s, s.Axis(axis))
	}
	return s.Axes(), nil
}

func (op dynamicSlice) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i != 0 || !y.DType().IsFloat() {
		return nil
	}
	return graph.Apply(dynamicUpdate{op.Axis}, ZerosLike(y.In(0)), y.In(1), dy)
}

func (dynamicSlice) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

// Batch takes of every example the part at its own place, or at the one that all have.
func (op dynamicSlice) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return graph.Apply(dynamicSlice{op.Axis + 1, op.Size}, atPlaces(y, in, batched, b)...)
}

// atPlaces repeats the operands of a part or an update over the examples, but for a place that all have.
func atPlaces(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) []*graph.Node {
	all := repeated(in, batched, b)
	if !batched[1] && y.In(1).Rank() == 0 {
		all[1] = in[1]
	}
	return all
}

func (op dynamicSlice) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return gatherEach(y, in[0], func(ix []int) int { return at(in[0].Type.Shape, fromPlace(in[1], ix, op.Axis)) })
}

// fromPlace moves an index of a part to where it is in the array.
func fromPlace(start graph.Value, ix []int, axis int) []int {
	to := slices.Clone(ix)
	to[axis] += int(start.Data[at(start.Type.Shape, ix[:start.Type.Shape.Rank()])])
	return to
}

// Places says that the second operand is an index.
func (op dynamicSlice) Places(y *graph.Node) (operand, size int) {
	return 1, y.In(0).Dim(op.Axis) - op.Size + 1
}

func (op dynamicSlice) Kernel(*graph.Node) kernel.Kernel { return kernel.DynamicSlice{Axis: op.Axis} }

func (dynamicSlice) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("slice at", in...)
}

func (dynamicSlice) Cases() []Case {
	slice := func(size int, axis any) func(in []*graph.Node) *graph.Node {
		return func(in []*graph.Node) *graph.Node { return DynamicSlice(in[0], in[1], size, axis) }
	}
	return []Case{
		{[]Operand{{"float[i=5 d=2]", Reals}, {"i32[]", Index(3)}}, slice(3, "i")},
		{[]Operand{{"float[b=3 i=2 d=4]", Reals}, {"i64[b=3]", Index(3)}}, slice(2, "d")},
		{[]Operand{{"float[b=2 c=2 d=4 e=2]", Reals}, {"i64[b=2 c=2]", Index(4)}}, slice(1, 2)},
		{[]Operand{{"i32[i=5]", Domain{Lo: -9, Hi: 9}}, {"i64[]", Index(3)}}, slice(3, 0)},
		{[]Operand{{"bool[i=5]", Truth}, {"i64[]", Index(1)}}, slice(5, 0)},
	}
}

// dynamicUpdate is an array with a part of its own along an axis, from a place that is an operand.
type dynamicUpdate struct{ Axis int }

func (dynamicUpdate) Name() string                            { return "DynamicUpdate" }
func (dynamicUpdate) Kind() match.Kind                        { return match.DynamicUpdate }
func (dynamicUpdate) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (dynamicUpdate) Doc() string {
	return "an array with a part of its own along an axis, from a computed place"
}

// Rule returns the name of the rule of its derivative.
func (dynamicUpdate) Rule(_ []bool) (name string, law expr.Expr) {
	return named("each element counts where it is written")
}

func (op dynamicUpdate) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 3); err != nil {
		return graph.Type{}, err
	}
	x, part := in[0], in[2]
	if x.DType() != part.DType() {
		return graph.Type{}, dtypesDiffer(x, part)
	}
	size := 0
	if op.Axis >= 0 && op.Axis < part.Rank() {
		size = part.Dim(op.Axis)
	}
	axes, err := dynamicAxes(x, in[1], op.Axis, size)
	if err != nil {
		return graph.Type{}, err
	}
	axes[op.Axis].Size = size
	if s, err := graph.NewShape(axes...); err != nil || !s.SameSizes(part.Shape()) {
		return graph.Type{}, fmt.Errorf("a part of shape %v of %v", part.Shape(), x.Shape())
	}
	return x.Type(), nil
}

func (op dynamicUpdate) Grad(y, dy *graph.Node, i int) *graph.Node {
	switch part := y.In(2); {
	case i == 1 || !y.DType().IsFloat():
		return nil
	case i == 0:
		return graph.Apply(op, dy, y.In(1), ZerosLike(part))
	default:
		return ReshapeTo(graph.Apply(dynamicSlice{op.Axis, part.Dim(op.Axis)}, dy, y.In(1)), part.Shape())
	}
}

func (dynamicUpdate) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

// Batch writes into every example at its own place, or at the one that all have.
func (op dynamicUpdate) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return graph.Apply(dynamicUpdate{op.Axis + 1}, atPlaces(y, in, batched, b)...)
}

func (op dynamicUpdate) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	copy(out.Data, in[0].Data)
	p := 0
	walk(in[2].Type.Shape, func(ix []int) {
		out.Data[at(y.Shape(), fromPlace(in[1], ix, op.Axis))] = in[2].Data[p]
		p++
	})
	return out
}

// Places says that the second operand is an index.
func (op dynamicUpdate) Places(y *graph.Node) (operand, size int) {
	return 1, y.Dim(op.Axis) - y.In(2).Dim(op.Axis) + 1
}

func (op dynamicUpdate) Kernel(*graph.Node) kernel.Kernel { return kernel.DynamicUpdate{Axis: op.Axis} }

func (dynamicUpdate) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("update at", in...)
}

func (dynamicUpdate) Cases() []Case {
	update := func(axis any) func(in []*graph.Node) *graph.Node {
		return func(in []*graph.Node) *graph.Node { return DynamicUpdate(in[0], in[1], in[2], axis) }
	}
	whole := Domain{Lo: -9, Hi: 9}
	return []Case{
		{[]Operand{{"float[i=5 d=2]", Reals}, {"i32[]", Index(3)}, {"float[i=3 d=2]", Reals}}, update("i")},
		{[]Operand{{"float[b=3 i=2 d=4]", Reals}, {"i64[b=3]", Index(3)}, {"float[b=3 i=2 k=2]", Reals}}, update("d")},
		{[]Operand{{"i32[i=5]", whole}, {"i64[]", Index(3)}, {"i32[i=3]", whole}}, update(0)},
		{[]Operand{{"bool[i=5]", Truth}, {"i64[]", Index(5)}, {"bool[i=1]", Truth}}, update(0)},
	}
}
