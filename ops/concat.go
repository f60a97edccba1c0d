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

type concat struct{ Axis int }

// Concat joins arrays end to end along one of their axes: from [a n b] and [a m b] along axis 1 it
// makes [a n+m b]. The arrays have one element type, which may be any, one rank, and equal sizes
// along the other axes; otherwise, or without any array, it records a mistake.
func Concat(axis any, xs ...*graph.Node) *graph.Node {
	g := graph.Of(xs...)
	if len(xs) == 0 || !xs[0].IsValid() {
		return g.Apply(concat{}, xs...)
	}
	list, err := xs[0].Shape().Resolve(axis)
	if err != nil {
		return g.Fail("Concat", err, xs...)
	}
	return g.Apply(concat{list[0]}, xs...)
}

func (concat) Name() string                            { return "Concat" }
func (concat) Kind() match.Kind                        { return match.Concat }
func (op concat) Along() attr.AxisSet                  { return attr.AxesOf(op.Axis) }
func (concat) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (concat) Doc() string                             { return "arrays joined along an axis" }

// Rule returns the name of the rule of its derivative.
func (concat) Rule(_ []bool) (name string, law expr.Expr) {
	return named("each piece takes its own part")
}

func (op concat) Infer(in []*graph.Node) (graph.Type, error) {
	if len(in) == 0 {
		return graph.Type{}, fmt.Errorf("want at least one operand")
	}
	s := in[0].Shape()
	if op.Axis < 0 || op.Axis >= s.Rank() {
		return graph.Type{}, fmt.Errorf("axis %d of %v", op.Axis, s)
	}
	axes := s.Axes()
	axes[op.Axis].Size = 0
	for _, x := range in {
		t := x.Shape()
		if x.DType() != in[0].DType() {
			return graph.Type{}, dtypesDiffer(in[0], x)
		}
		if t.Rank() != s.Rank() {
			return graph.Type{}, fmt.Errorf("%v and %v have different numbers of axes", s, t)
		}
		for i := range axes {
			a := t.Axis(i)
			if a.Name != "" && axes[i].Name != "" && a.Name != axes[i].Name {
				return graph.Type{}, fmt.Errorf("axis %q meets axis %q", axes[i].Name, a.Name)
			}
			if axes[i].Name == "" {
				axes[i].Name = a.Name
			}
			if i == op.Axis {
				axes[i].Size += a.Size
			} else if a.Size != axes[i].Size {
				return graph.Type{}, fmt.Errorf("sizes differ beside the joined axis: %v and %v", s, t)
			}
		}
	}
	to, err := graph.NewShape(axes...)
	return graph.Type{DType: in[0].DType(), Shape: to}, err
}

func (op concat) Grad(y, dy *graph.Node, i int) *graph.Node {
	from := 0
	for k := range i {
		from += y.In(k).Dim(op.Axis)
	}
	return Slice(dy, op.Axis, from, from+y.In(i).Dim(op.Axis))
}

func (concat) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op concat) Batch(_ *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return graph.Apply(concat{op.Axis + 1}, repeated(in, batched, b)...)
}

func (op concat) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	from := make([]int, y.Rank())
	p := 0
	walk(y.Shape(), func(ix []int) {
		copy(from, ix)
		k := 0
		for from[op.Axis] >= in[k].Type.Shape.Dim(op.Axis) {
			from[op.Axis] -= in[k].Type.Shape.Dim(op.Axis)
			k++
		}
		pos := 0
		for a, i := range from {
			pos = pos*in[k].Type.Shape.Dim(a) + i
		}
		out.Data[p] = in[k].Data[pos]
		p++
	})
	return out
}

func (op concat) Kernel(*graph.Node) kernel.Kernel { return kernel.Concat{Axis: op.Axis} }

// Notation is concat_j(a, b): each operand without the index of the axis along
// which it stands beside the others.
func (op concat) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	subs := indices(y, attr.AxesOf(op.Axis))
	args := make([]expr.Expr, len(in))
	for k, e := range in {
		name := y.In(k).Shape().Axis(op.Axis).Name
		args[k] = e.Subst([]string{name}, []string{""})
	}
	return expr.Expr{Kind: expr.KindCall, Text: "concat", Subs: subs, Args: args}
}

func (concat) Cases() []Case {
	join := func(axis any, types ...string) Case {
		var operands []Operand
		for _, t := range types {
			operands = append(operands, Operand{t, Reals})
		}
		return Case{operands, func(in []*graph.Node) *graph.Node { return Concat(axis, in...) }}
	}
	return []Case{
		join("i", "float[i=3 d=4]", "float[i=1 d=4]", "float[i=2 d=4]", "float[i=2 4]"),
		join(1, "float[i=3 d=4]", "float[3 2]"),
		join(0, "float[i=3]"),
	}
}
