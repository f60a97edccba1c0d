package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type broadcast struct{ To graph.Shape }

// BroadcastTo repeats x along its axes of size 1 and along new leading axes, so that it has the
// shape to. As in NumPy, axes are aligned at the last one. x is of any element type. A shape that x
// cannot be repeated to is a mistake.
func BroadcastTo(x *graph.Node, to graph.Shape) *graph.Node {
	defer calling("BroadcastTo", x)()
	if x.IsValid() && x.Shape() == to {
		return x
	}
	return graph.Apply(broadcast{to}, x)
}

func (broadcast) Name() string     { return "Broadcast" }
func (broadcast) Kind() match.Kind { return match.Broadcast }
func (broadcast) Doc() string      { return "repetition along axes of size 1 and new leading axes" }

// Rule returns the name of the rule of its derivative.
func (broadcast) Rule(_ []bool) (name string, law expr.Expr) {
	return named("a repeated value: sum over its copies")
}

func (op broadcast) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if err := in[0].Shape().RepeatsTo(op.To); err != nil {
		return graph.Type{}, err
	}
	return graph.Type{DType: in[0].DType(), Shape: op.To}, nil
}

// Grad sums over the repeated axes.
func (op broadcast) Grad(y, dy *graph.Node, _ int) *graph.Node {
	x := y.In(0).Shape()
	lead := op.To.Rank() - x.Rank()
	var axes attr.AxisSet
	for i := range op.To.Rank() {
		if i < lead || x.Dim(i-lead) != op.To.Dim(i) {
			axes |= attr.AxesOf(i)
		}
	}
	return ReshapeTo(graph.Apply(sum{Axes: axes}, dy), x)
}

func (broadcast) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

// Batch keeps the batch's axis before those that are new.
func (op broadcast) Batch(y *graph.Node, in []*graph.Node, _ []bool, b graph.Axis) *graph.Node {
	own := y.In(0).Shape().Axes()
	axes := append([]graph.Axis{b}, graph.Dims(slices.Repeat([]int{1}, op.To.Rank()-len(own))...)...)
	return BroadcastTo(reshapeAxes("Batch", in[0], append(axes, own...)), inFront(b, op.To))
}

func (op broadcast) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return gatherEach(y, in[0], func(ix []int) int { return at(in[0].Type.Shape, ix) })
}

func (op broadcast) View(*graph.Node) kernel.View {
	return kernel.Broadcast{Rank: op.To.Rank(), Dims: sizes8(op.To)}
}

// Notation is the operand's: subscripts already say along which axes it varies.
func (broadcast) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0] }

func (broadcast) Cases() []Case {
	to := func(axes ...graph.Axis) func([]*graph.Node) *graph.Node {
		s, _ := graph.NewShape(axes...)
		return func(in []*graph.Node) *graph.Node { return BroadcastTo(in[0], s) }
	}
	return []Case{
		{[]Operand{{"float[j=1 d=3]", Reals}}, to(graph.Ax("i", 2), graph.Ax("j", 4), graph.Ax("d", 3))},
		{[]Operand{{"float[]", Reals}}, to(graph.Dims(2, 3)...)},
		{[]Operand{{"float[3 1]", Reals}}, to(graph.Dims(3, 2)...)},
	}
}

// Over lays x out over the named axes, in that order: axes that x has are moved into place, the
// others are added with size 1, and repeat where x meets an array that has them. With it, an outer
// product is explicit:
//
//	ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))   // x_i − r_j for every pair
//
// x is of any element type. An axis of x that is not among the names, or a name given twice, is a
// mistake.
func Over(x *graph.Node, names ...string) *graph.Node {
	defer calling("Over", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("Over", errNil, x)
	}
	order := make([]int, 0, x.Rank())
	axes := make([]graph.Axis, len(names))
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return x.Graph().Fail("Over", fmt.Errorf("axis %q is named twice among %q", name, names), x)
		}
		axes[i] = graph.Axis{Name: name, Size: 1}
		if a := x.Shape().Index(name); a >= 0 {
			order = append(order, a)
			axes[i] = x.Shape().Axis(a)
		}
	}
	to, err := graph.NewShape(axes...)
	if err == nil && len(order) != x.Rank() {
		err = fmt.Errorf("an axis of %v is not among %q", x.Shape(), names)
	}
	if err != nil {
		return x.Graph().Fail("Over", err, x)
	}
	return ReshapeTo(transposeTo(x, order), to)
}
