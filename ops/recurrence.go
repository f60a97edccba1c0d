package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type recurrence struct {
	Axis    int
	Reverse bool
}

// LinearRecurrence returns h_t = a_t·h_{t−1} + b_t along an axis, for numbers a and b, with
// broadcasting: h is b at the first index, where a does not count. Decaying sums and products are
// made of it, as are [CumSum] and [CumProd], and the layers of state-space models (Gu & Dao, 2023).
// It takes n steps, holds float32 sums in float64, and never divides: derivatives of every order,
// which are recurrences from the other end, are right where a is 0. It is a recurrence of one number
// for each place of the other axes; [Scan] has others.
func LinearRecurrence(a, b *graph.Node, axis any) *graph.Node {
	defer calling("LinearRecurrence", a, b)()
	in, ok := joined(a, b)
	if !ok {
		return graph.Apply(recurrence{}, in...) // records the mistake, or stays silent
	}
	a, b = in[0], in[1]
	s, err := graph.Align(a.Shape(), b.Shape())
	if err != nil {
		return a.Graph().Fail("LinearRecurrence", err, a, b)
	}
	if a.DType() != b.DType() {
		return a.Graph().Fail("LinearRecurrence", dtypesDiffer(a, b), a, b)
	}
	list, err := s.Resolve(axis)
	if err != nil {
		return a.Graph().Fail("LinearRecurrence", err, a, b)
	}
	return graph.Apply(recurrence{Axis: list[0]}, BroadcastTo(a, s), BroadcastTo(b, s))
}

func (recurrence) Name() string     { return "LinearRecurrence" }
func (recurrence) Kind() match.Kind { return match.LinearRecurrence }
func (recurrence) Doc() string      { return "a_t·h_{t−1} + b_t along an axis" }

// Rule returns the name of the rule of its derivative.
func (recurrence) Rule(_ []bool) (name string, law expr.Expr) {
	return named("the recurrence from the other end")
}

func (op recurrence) Infer(in []*graph.Node) (graph.Type, error) {
	t, err := inferEach(in, 2, wantNumber)
	if err == nil && (op.Axis < 0 || op.Axis >= t.Shape.Rank()) {
		err = fmt.Errorf("axis %d of %v", op.Axis, t.Shape)
	}
	return t, err
}

// moved is x at the index before, or the one after with back; 0 stands for what is outside.
func (op recurrence) moved(x *graph.Node, back bool) *graph.Node {
	n := x.Dim(op.Axis)
	switch {
	case n <= 1:
		return ZerosLike(x)
	case back:
		return Pad(Slice(x, op.Axis, 1, n), op.Axis, 0, 1, 0)
	}
	return Pad(Slice(x, op.Axis, 0, n-1), op.Axis, 1, 0, 0)
}

// Grad uses y: g_t = dy_t + a_{t+1}·g_{t+1} is the derivative by b_t, and g_t·h_{t−1} that by a_t.
func (op recurrence) Grad(y, dy *graph.Node, i int) *graph.Node {
	g := graph.Apply(recurrence{op.Axis, !op.Reverse}, op.moved(y.In(0), !op.Reverse), dy)
	if i == 1 {
		return g
	}
	return Mul(g, op.moved(y, op.Reverse))
}

// JVP uses y: dh_t = a_t·dh_{t−1} + (da_t·h_{t−1} + db_t).
func (op recurrence) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	d := dx[1]
	if dx[0] != nil {
		if d = Mul(dx[0], op.moved(y, op.Reverse)); dx[1] != nil {
			d = Add(d, dx[1])
		}
	}
	return graph.Apply(op, y.In(0), d)
}

func (op recurrence) Batch(_ *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	op.Axis++
	return graph.Apply(op, repeated(in, batched, b)...)
}

func (op recurrence) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	recur(op, y.Shape(), out.Data, in[0].Data, in[1].Data)
	return out
}

// EvalWhole is Eval of integers.
func (op recurrence) EvalWhole(y *graph.Node, in [][]int64) []int64 {
	out := make([]int64, y.Shape().Len())
	recur(op, y.Shape(), out, in[0], in[1])
	return out
}

func recur[T float64 | int64](op recurrence, s graph.Shape, h, a, b []T) {
	eachRow(s, op.Axis, func(places []int) {
		for t := range places {
			p := places[t]
			if op.Reverse {
				p = places[len(places)-1-t]
			}
			h[p] = b[p]
			if t > 0 {
				before := places[t-1]
				if op.Reverse {
					before = places[len(places)-t]
				}
				h[p] += a[p] * h[before]
			}
		}
	})
}

func (op recurrence) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Recurrence{Axis: op.Axis, Reverse: op.Reverse}
}

func (op recurrence) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	name := "recurrence"
	if op.Reverse {
		name += "←"
	}
	call := functionAlong(name, y, op.Axis, in[0])
	call.Args = append(call.Args, in[1])
	return call
}

func (recurrence) Cases() []Case {
	back := func(in []*graph.Node) *graph.Node { return graph.Apply(recurrence{1, true}, in...) }
	return []Case{
		{[]Operand{{"float[i=3 j=4]", Reals}, {"float[i=3 j=4]", Reals}}, func(in []*graph.Node) *graph.Node { return LinearRecurrence(in[0], in[1], "j") }},
		{[]Operand{{"float[i=3 j=4 d=2]", Reals}, {"float[i=3 j=4 d=2]", Reals}}, back},
		{[]Operand{{"float[j=1]", Reals}, {"float[j=1]", Reals}}, func(in []*graph.Node) *graph.Node { return LinearRecurrence(in[0], in[1], 0) }},
		{[]Operand{{"float[]", Reals}, {"float[j=5 i=2]", Reals}}, func(in []*graph.Node) *graph.Node { return LinearRecurrence(in[0], in[1], 0) }},
		{[]Operand{{"i64[i=5]", Index(3)}, {"i64[i=5]", Index(3)}}, func(in []*graph.Node) *graph.Node { return LinearRecurrence(in[0], in[1], 0) }},
	}
}
