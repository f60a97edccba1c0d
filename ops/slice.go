package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

type slice struct{ Start, Step, Size attr.Ints }

// Slice returns elements from, from+1, …, to−1 along one axis of x, none where from and to are the
// same place. Negative bounds count from the end, and to = 0 is the end. x is of any element type.
// Bounds outside the axis, or from behind to, are a mistake.
func Slice(x *graph.Node, axis any, from, to int) *graph.Node {
	defer calling("Slice", x)()
	return SliceStep(x, axis, from, to, 1)
}

// SliceStep returns every step-th element of from ≤ i < to along one axis of x; it is otherwise
// like [Slice]. A step below 1 is a mistake; see [Reverse].
func SliceStep(x *graph.Node, axis any, from, to, step int) *graph.Node {
	defer calling("SliceStep", x)()
	return withAxes("Slice", x, []any{axis}, func(list []int) *graph.Node {
		a := list[0]
		n := x.Dim(a)
		lo, hi := from, to
		if lo < 0 {
			lo += n
		}
		if hi <= 0 {
			hi += n
		}
		if lo < 0 || lo > hi || hi > n || step < 1 {
			return x.Graph().Fail("Slice", fmt.Errorf("elements %d to %d by %d of axis %v", from, to, step, x.Shape().Axis(a)), x)
		}
		return sliceAll(x, func(start, steps, sizes []int) {
			start[a], steps[a], sizes[a] = lo, step, (hi-lo+step-1)/step
		})
	})
}

// Reverse returns x with the elements along one axis in reverse order. x is of any element type.
func Reverse(x *graph.Node, axis any) *graph.Node {
	defer calling("Reverse", x)()
	return withAxes("Reverse", x, []any{axis}, func(list []int) *graph.Node {
		a := list[0]
		return sliceAll(x, func(start, steps, _ []int) { start[a], steps[a] = max(0, x.Dim(a)-1), -1 })
	})
}

// stretch returns n elements along an axis of x, from one on. Unlike the bounds of [Slice], its
// numbers are only what they say.
func stretch(x *graph.Node, axis, from, n int) *graph.Node {
	return sliceAll(x, func(start, _, sizes []int) { start[axis], sizes[axis] = from, n })
}

func sliceAll(x *graph.Node, set func(start, steps, sizes []int)) *graph.Node {
	start, steps, sizes := make([]int, x.Rank()), make([]int, x.Rank()), x.Shape().Sizes()
	for i := range steps {
		steps[i] = 1
	}
	set(start, steps, sizes)
	return graph.Apply(slice{attr.IntsOf(start...), attr.IntsOf(steps...), attr.IntsOf(sizes...)}, x)
}

func (slice) Name() string     { return "Slice" }
func (slice) Kind() match.Kind { return match.Slice }
func (slice) Doc() string      { return "evenly spaced elements of an array along its axes" }

// Rule returns the name of the rule of its derivative.
func (slice) Rule(_ []bool) (name string, law expr.Expr) {
	return named("what is not taken counts 0")
}

func (op slice) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	s := in[0].Shape()
	if op.Start.Len() != s.Rank() || op.Step.Len() != s.Rank() || op.Size.Len() != s.Rank() {
		return graph.Type{}, fmt.Errorf("want start, step and size for each of %d axes", s.Rank())
	}
	axes := s.Axes()
	for i := range axes {
		if err := within(axes[i], op.Start.At(i), op.Step.At(i), op.Size.At(i)); err != nil {
			return graph.Type{}, err
		}
		axes[i].Size = op.Size.At(i)
	}
	to, err := graph.NewShape(axes...)
	return graph.Type{DType: in[0].DType(), Shape: to}, err
}

// within refuses steps that leave the axis. It divides, because the product of
// numbers from a text form may overflow.
func within(a graph.Axis, first, step, size int) error {
	more := 0 // steps that stay on the axis
	if step > 0 {
		more = (a.Size - 1 - first) / step
	} else if step < 0 {
		more = first / -step
	}
	if size == 0 && step != 0 && first >= 0 && first <= a.Size {
		return nil
	}
	if step == 0 || first < 0 || first >= a.Size || size < 1 || size-1 > more {
		return fmt.Errorf("%d elements from %d by %d of axis %v", size, first, step, a)
	}
	return nil
}

// Strides are the first place of each axis that is taken, and the distance to the next.
func (op slice) Strides() (start, step []int) { return op.Start.List(), op.Step.List() }

func (op slice) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return graph.Apply(place{op.Start, op.Step, y.In(0).Shape()}, dy)
}

func (slice) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op slice) Batch(_ *graph.Node, in []*graph.Node, _ []bool, b graph.Axis) *graph.Node {
	return graph.Apply(slice{shifted(0, op.Start), shifted(1, op.Step), shifted(b.Size, op.Size)}, in[0])
}

func (op slice) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	from := make([]int, y.Rank())
	return gatherEach(y, in[0], func(ix []int) int {
		return at(in[0].Type.Shape, strided(from, ix, op.Start, op.Step))
	})
}

func strided(to, ix []int, start, step attr.Ints) []int {
	for i, k := range ix {
		to[i] = start.At(i) + k*step.At(i)
	}
	return to
}

func (op slice) View(*graph.Node) kernel.View {
	v := kernel.Slice{}
	copy(v.Start[:], op.Start.List())
	copy(v.Step[:], op.Step.List())
	copy(v.Size[:], op.Size.List())
	return v
}

// Notation is x_{t+1} where the slice starts at 1 and leaves out no element.
func (op slice) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	if name, ok := resultOf(y); ok {
		return expr.Call(name, in[0])
	}
	var from, to []string
	for i, a := range y.In(0).Shape().Axes() {
		if op.Step.At(i) != 1 && op.Size.At(i) > 1 || a.Size > 1 && a.Name == "" && op.Size.At(i) < a.Size || op.Size.At(i) == 1 && a.Size > 1 {
			return expr.Call("slice", in[0])
		}
		if start := op.Start.At(i); start != 0 {
			from, to = append(from, a.Name), append(to, subscript.Shifted(a.Name, start))
		}
	}
	return in[0].Subst(from, to)
}

func (slice) Cases() []Case {
	one := func(f func(x *graph.Node) *graph.Node) Case {
		return Case{[]Operand{{"float[i=5 d=4]", Reals}}, func(in []*graph.Node) *graph.Node { return f(in[0]) }}
	}
	return []Case{
		one(func(x *graph.Node) *graph.Node { return Slice(x, "i", 1, 3) }),
		one(func(x *graph.Node) *graph.Node { return SliceStep(x, 0, 0, 0, 2) }),
		one(func(x *graph.Node) *graph.Node { return Reverse(x, "d") }),
	}
}

type place struct {
	Start, Step attr.Ints
	To          graph.Shape
}

func (place) Name() string     { return "Place" }
func (place) Kind() match.Kind { return match.Place }
func (place) Doc() string      { return "zeros with an array at evenly spaced places: Slice's derivative" }

// Rule returns the name of the rule of its derivative.
func (place) Rule(_ []bool) (name string, law expr.Expr) {
	return named("what is laid into zeros counts where it lies")
}

func (op place) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if err := wantNumber(in...); err != nil {
		return graph.Type{}, err
	}
	s := in[0].Shape()
	if s.Rank() != op.To.Rank() || op.Start.Len() != s.Rank() || op.Step.Len() != s.Rank() {
		return graph.Type{}, fmt.Errorf("want start and step for each of %d axes", op.To.Rank())
	}
	for i := range s.Rank() {
		if err := within(op.To.Axis(i), op.Start.At(i), op.Step.At(i), s.Dim(i)); err != nil {
			return graph.Type{}, err
		}
	}
	return graph.Type{DType: in[0].DType(), Shape: op.To}, nil
}

// Strides are the places into which the array is laid.
func (op place) Strides() (start, step []int) { return op.Start.List(), op.Step.List() }

func (op place) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return graph.Apply(slice{op.Start, op.Step, attr.IntsOf(y.In(0).Shape().Sizes()...)}, dy)
}

func (place) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op place) Batch(_ *graph.Node, in []*graph.Node, _ []bool, b graph.Axis) *graph.Node {
	return graph.Apply(place{shifted(0, op.Start), shifted(1, op.Step), inFront(b, op.To)}, in[0])
}

func (op place) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	to := make([]int, y.Rank())
	p := 0
	walk(in[0].Type.Shape, func(ix []int) {
		out.Data[at(op.To, strided(to, ix, op.Start, op.Step))] = in[0].Data[p]
		p++
	})
	return out
}

func (op place) Kernel(*graph.Node) kernel.Kernel {
	k := kernel.Place{}
	copy(k.Start[:], op.Start.List())
	copy(k.Step[:], op.Step.List())
	return k
}

func (op place) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("place", in[0])
}

func (place) Cases() []Case {
	to, _ := graph.NewShape(graph.Ax("i", 5), graph.Ax("d", 4))
	return []Case{{[]Operand{{"float[i=2 d=4]", Reals}}, func(in []*graph.Node) *graph.Node {
		return graph.Apply(place{attr.IntsOf(1, 3), attr.IntsOf(2, -1), to}, in[0])
	}}}
}

// Taking returns the operation that takes, along each axis, size elements from start by step.
func (slice) Taking(start, step, size []int) graph.Op {
	return slice{attr.IntsOf(start...), attr.IntsOf(step...), attr.IntsOf(size...)}
}

// Placing returns the operation that lays an array into zeros, along each axis from start by step.
func (place) Placing(start, step []int, to graph.Shape) graph.Op {
	return place{attr.IntsOf(start...), attr.IntsOf(step...), to}
}
