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

type keep struct{}

// Keep, given among the axes of a reduction, keeps the reduced axes in place with size 1:
// ops.Sum(x, "j", ops.Keep).
var Keep = keep{}

// reduction finds the axes of a reduction; without any it is over all of them.
func reduction(what string, x *graph.Node, axes []any, f func(set attr.AxisSet, keep bool) *graph.Node) *graph.Node {
	kept := false
	var refs []any
	for _, a := range axes {
		if a == Keep {
			kept = true
		} else {
			refs = append(refs, a)
		}
	}
	return withAxes(what, x, refs, func(list []int) *graph.Node {
		if len(refs) == 0 {
			for i := range x.Rank() {
				list = append(list, i)
			}
		}
		if len(list) == 0 {
			return x
		}
		return f(attr.AxesOf(list...), kept)
	})
}

func inferReduction(in []*graph.Node, axes attr.AxisSet, keep bool, want func(...*graph.Node) error) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if err := want(in...); err != nil {
		return graph.Type{}, err
	}
	s := in[0].Shape()
	if axes>>s.Rank() != 0 {
		return graph.Type{}, fmt.Errorf("axes %v of %v", axes, s)
	}
	to, err := reduceShape(s, axes, keep)
	return graph.Type{DType: in[0].DType(), Shape: to}, err
}

// spread lays the result of a reduction of x (or its derivative) out over x's axes again.
func spread(dy, x *graph.Node, axes attr.AxisSet) *graph.Node {
	s, err := reduceShape(x.Shape(), axes, true)
	if err != nil {
		return x.Graph().Fail("spread", err, x)
	}
	return BroadcastTo(ReshapeTo(dy, s), x.Shape())
}

// foldEach defines a reduction: every element of x meets the accumulator of its output.
func foldEach(y *graph.Node, x graph.Value, axes attr.AxisSet, start float64, f func(acc, v float64) float64) graph.Value {
	out := graph.NewValue(y.Type())
	for i := range out.Data {
		out.Data[i] = start
	}
	kept, _ := reduceShape(x.Type.Shape, axes, true)
	p := 0
	walk(x.Type.Shape, func(ix []int) {
		q := at(kept, ix)
		out.Data[q] = f(out.Data[q], x.Data[p])
		p++
	})
	return out
}

// indices are the names of the reduced axes, for notation; unnamed axes have none.
func indices(x *graph.Node, axes attr.AxisSet) []string {
	var out []string
	for _, a := range axes.List() {
		if name := x.Shape().Axis(a).Name; name != "" {
			out = append(out, name)
		}
	}
	return out
}

type sum struct {
	Axes attr.AxisSet
	Keep bool
}

// Sum returns the sum of x over the given axes, or over all without any. It removes these axes unless
// [Keep] is given. The sum of no elements is 0. The sum of numbers has their element type, and that of
// integers wraps around; the sum of a mask is the number of its true elements, an i32.
func Sum(x *graph.Node, axes ...any) *graph.Node {
	defer calling("Sum", x)()
	x = counted(x, graph.I32)
	return reduction("Sum", x, axes, func(set attr.AxisSet, keep bool) *graph.Node {
		return graph.Apply(sum{set, keep}, x)
	})
}

// counted makes numbers of a mask, and leaves other arrays as they are.
func counted(x *graph.Node, to graph.DType) *graph.Node {
	if x.IsValid() && x.DType() == graph.Bool {
		return Cast(x, to)
	}
	return x
}

func (sum) Name() string                            { return "Sum" }
func (sum) Kind() match.Kind                        { return match.Sum }
func (op sum) Along() attr.AxisSet                  { return op.Axes }
func (op sum) Twin() graph.Op                       { return sum{op.Axes, !op.Keep} }
func (sum) Linear(i int) bool                       { return i == 0 }
func (sum) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (sum) Doc() string                             { return "sum over axes" }

// Rule returns the name of the rule of its derivative.
func (sum) Rule(_ []bool) (name string, law expr.Expr) {
	return named("sum rule")
}

func (op sum) Infer(in []*graph.Node) (graph.Type, error) {
	return inferReduction(in, op.Axes, op.Keep, wantNumber)
}

func (op sum) Grad(y, dy *graph.Node, _ int) *graph.Node { return spread(dy, y.In(0), op.Axes) }

func (sum) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op sum) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(sum{op.Axes << 1, op.Keep}, in[0])
}

func (op sum) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return foldEach(y, in[0], op.Axes, 0, func(acc, v float64) float64 { return acc + v })
}

// EvalWhole is Eval of integers.
func (op sum) EvalWhole(y *graph.Node, in [][]int64) []int64 {
	out := make([]int64, y.Shape().Len())
	kept, _ := reduceShape(y.In(0).Shape(), op.Axes, true)
	p := 0
	walk(y.In(0).Shape(), func(ix []int) {
		out[at(kept, ix)] += in[0][p]
		p++
	})
	return out
}

func (op sum) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Reduce{Op: kernel.ReduceSum, Axes: uint8(op.Axes)}
}

// Notation writes a sum of squares over one axis as a squared norm.
func (op sum) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	names := indices(y.In(0), op.Axes)
	if e := in[0]; len(names) == 1 && e.Kind == expr.KindPower && e.Args[1].Text == "2" {
		return expr.Norm2(e.Args[0].Subst(names, []string{""}))
	}
	return expr.Big("Σ", names, in[0])
}

func reductionCases(f func(x *graph.Node, axes ...any) *graph.Node, d Domain) []Case {
	over := func(axes ...any) Case {
		return Case{[]Operand{{"float[i=3 j=4 d=2]", d}}, func(in []*graph.Node) *graph.Node { return f(in[0], axes...) }}
	}
	return []Case{over(), over("j"), over(-1, Keep), over("i", "d"), over(0)}
}

func (sum) Cases() []Case { return reductionCases(Sum, Reals) }

// Terms returns the operand's elements.
func (sum) Terms(in [][]float64) (terms []float64, what string, ok bool) { return in[0], "Sum", true }
