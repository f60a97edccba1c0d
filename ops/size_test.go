package ops_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// nothing are functions of arrays with and without elements: x is [3 4], e [0 4], k [3] and none [0],
// both indices, with what they give.
var nothing = map[string]struct {
	make func(g *graph.Graph, x, e, k, none *graph.Node) *graph.Node
	want string
}{
	"a draw": {func(g *graph.Graph, _, _, _, _ *graph.Node) *graph.Node {
		return ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 0))
	}, "f32[i=0]:"},
	"a constant": {func(g *graph.Graph, _, _, _, _ *graph.Node) *graph.Node {
		return g.Constant(graph.I8, nil, graph.Ax("i", 0))
	}, "i8[i=0]:"},
	"arange": {func(g *graph.Graph, _, _, _, _ *graph.Node) *graph.Node {
		return ops.Arange(g, graph.I32, graph.Ax("i", 0))
	}, "i32[i=0]:"},
	"linspace": {func(g *graph.Graph, _, _, _, _ *graph.Node) *graph.Node {
		return ops.Linspace(g, graph.F32, 0, 1, graph.Ax("i", 0))
	}, "f32[i=0]:"},
	"eye": {func(g *graph.Graph, _, _, _, _ *graph.Node) *graph.Node {
		return ops.Eye(g, graph.F32, graph.Ax("i", 0), graph.Ax("j", 2))
	}, "f32[i=0 j=2]:"},
	"slice":        {func(_ *graph.Graph, x, _, _, _ *graph.Node) *graph.Node { return ops.Slice(x, 0, 2, 2) }, "f32[0 4]:"},
	"slice at end": {func(_ *graph.Graph, x, _, _, _ *graph.Node) *graph.Node { return ops.Slice(x, 0, 3, 3) }, "f32[0 4]:"},
	"slice back":   {func(_ *graph.Graph, x, _, _, _ *graph.Node) *graph.Node { return ops.Slice(x, 0, 3, 1) }, "elements 3 to 1 by 1 of axis 3"},
	"slice of it":  {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Slice(e, 0, 0, 0) }, "f32[0 4]:"},
	"by step":      {func(_ *graph.Graph, x, _, _, _ *graph.Node) *graph.Node { return ops.SliceStep(x, 0, 1, 1, 2) }, "f32[0 4]:"},
	"reverse":      {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Reverse(e, 0) }, "f32[0 4]:"},
	"reshape":      {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Reshape(e, 2, 0, 7) }, "f32[2 0 7]:"},
	"reshape -1":   {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Reshape(e, -1, 7) }, "f32[0 7]:"},
	"any size":     {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Reshape(e, 0, -1) }, "sizes [0 -1]: -1 may be any size beside a 0"},
	"to none":      {func(_ *graph.Graph, x, _, _, _ *graph.Node) *graph.Node { return ops.Reshape(x, 3, 0) }, "12 elements cannot fill [3 0] of 0"},
	"broadcast":    {func(_ *graph.Graph, x, e, _, _ *graph.Node) *graph.Node { return ops.Add(e, ops.Slice(x, 0, 0, 1)) }, "f32[0 4]:"},
	"pad":          {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Sum(ops.Pad(e, 0, 1, 1, 2), 1) }, "f32[2]: ×8"},
	"reflect":      {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.ReflectPad(e, 0, 1, 0) }, "1 and 0 elements around axis 0: want 0 to -1"},
	"concat":       {func(_ *graph.Graph, x, e, _, _ *graph.Node) *graph.Node { return ops.Sum(ops.Concat(0, e, x, e), 0) }, "f32[4]: 15 18 21 24"},
	"stack":        {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Stack(0, "k", e, e) }, "f32[k=2 0 4]:"},
	"one-hot": {func(_ *graph.Graph, _, _, _, none *graph.Node) *graph.Node {
		return ops.OneHot(none, 0, graph.Ax("c", 3), graph.F32)
	}, "f32[c=3 0]:"},
	"one-hot of 0": {func(_ *graph.Graph, _, _, k, _ *graph.Node) *graph.Node {
		return ops.OneHot(k, 0, graph.Ax("c", 0), graph.F32)
	}, "indices k[3] of an axis of size 0"},
	"gather":     {func(_ *graph.Graph, x, _, _, none *graph.Node) *graph.Node { return ops.Gather(x, none, 0) }, "f32[0 4]:"},
	"of nothing": {func(_ *graph.Graph, _, e, k, _ *graph.Node) *graph.Node { return ops.Gather(e, k, 0) }, "indices k[3] of an axis of size 0, which has no place for them"},
	"scatter": {func(_ *graph.Graph, x, e, _, none *graph.Node) *graph.Node {
		return ops.Sum(ops.SetAt(x, none, e, 0), 0)
	}, "f32[4]: 15 18 21 24"},
	"scatter add": {func(_ *graph.Graph, _, e, _, none *graph.Node) *graph.Node {
		return ops.ScatterAdd(none, e, 0, graph.Dims(2, 4)...)
	}, "f32[2 4]: ×0"},
	"segments": {func(_ *graph.Graph, _, e, _, none *graph.Node) *graph.Node {
		return ops.SegmentSum(e, none, graph.Ax("s", 2))
	}, "f32[s=2 4]: ×0"},
	"sum":         {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Sum(e, 0) }, "f32[4]: ×0"},
	"sum of all":  {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Sum(e) }, "f32[]: 0"},
	"sum, other":  {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Sum(e, 1) }, "f32[0]:"},
	"prod":        {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Prod(e, 0) }, "f32[4]: ×1"},
	"mean":        {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Mean(e) }, "f32[]: nan"},
	"variance":    {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Var(e) }, "f32[]: nan"},
	"max":         {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Max(e, 0) }, "axis 0 has no element to choose"},
	"max, other":  {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Max(e, 1) }, "f32[0]:"},
	"argmax":      {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.ArgMax(e, 0) }, "axis 0 has no element to choose"},
	"log-sum-exp": {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.LogSumExp(e, 0) }, "f32[4]: ×-Inf"},
	"softmax":     {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Softmax(e, 0) }, "f32[0 4]:"},
	"sort":        {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.Sort(e, 0) }, "f32[0 4]:"},
	"cumsum":      {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.CumSum(e, 0) }, "f32[0 4]:"},
	"cummax":      {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.CumMax(e, 0) }, "f32[0 4]:"},
	"product": {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node {
		return ops.MatMul(ops.Transpose(e), ops.Slice(e, 1, 0, 2))
	}, "f32[4 2]: ×0"},
	"distances": {func(_ *graph.Graph, x, _, _, _ *graph.Node) *graph.Node {
		z := ops.Slice(x, 1, 4, 4)
		return ops.SqDist(z, z)
	}, "f32[3 3]: ×0"},
	"pool": {func(_ *graph.Graph, _, e, _, _ *graph.Node) *graph.Node { return ops.MaxPool1D(e, ops.Size(1)) }, "windows over axis 0: want elements"},
	"determinant": {func(g *graph.Graph, _, _, _, _ *graph.Node) *graph.Node {
		return ops.Det(g.Input("a", graph.F32, graph.Dims(2, 0, 0)...))
	}, "f32[2]: ×1"},
	"inverse": {func(g *graph.Graph, _, _, _, _ *graph.Node) *graph.Node {
		return ops.Inv(g.Input("a", graph.F32, graph.Dims(2, 0, 0)...))
	}, "f32[2 0 0]:"},
	"a loop": {func(_ *graph.Graph, x, e, _, _ *graph.Node) *graph.Node {
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{ops.Sum(x, 0)}, Over: []*graph.Node{e}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Add(c[0], x[0])}, []*graph.Node{ops.Sum(x[0])}
		})
		return ops.Add(r.Final[0], ops.Add(ops.Sum(r.Trace[0]), ops.Sum(r.Out[0])))
	}, "f32[4]: 15 18 21 24"},
	"a loop of ints": {func(_ *graph.Graph, _, e, k, _ *graph.Node) *graph.Node {
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{k}, Over: []*graph.Node{e}, Checkpoint: 2}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Add(c[0], c[0])}, []*graph.Node{ops.Greater(x[0], x[0])}
		})
		return ops.Add(r.Final[0], ops.Sum(ops.Cast(r.Out[0], graph.I32)))
	}, "i32[3]: 0 2 1"},
	"another carry": {func(_ *graph.Graph, x, e, _, _ *graph.Node) *graph.Node {
		return ops.Scan(ops.Loop{Carry: []*graph.Node{ops.Sum(x, 0)}, Over: []*graph.Node{e}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Sum(c[0])}, nil
		}).Final[0]
	}, "carry 0 starts as f32[4] and goes on as f32[]: want the same"},
	"unrolled": {func(_ *graph.Graph, x, e, _, _ *graph.Node) *graph.Node {
		r := ops.Unroll(ops.Loop{Carry: []*graph.Node{ops.Sum(x, 0)}, Over: []*graph.Node{e}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			return c, x
		})
		return r.Out[0]
	}, "f32[0 4]:"},
	"while": {func(_ *graph.Graph, x, e, _, _ *graph.Node) *graph.Node {
		r := ops.While(ops.Loop{Carry: []*graph.Node{ops.Sum(x, 0)}, Over: []*graph.Node{e}}, func(c, _ []*graph.Node) *graph.Node {
			return ops.Greater(ops.Sum(c[0]), ops.Lit(c[0], 0))
		}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) { return c, x })
		return ops.Add(r.Final[0], ops.Cast(r.Steps, graph.F32))
	}, "f32[4]: 15 18 21 24"},
}

// TestNothing: arrays without elements, and what is made of them, are as in NumPy; where NumPy refuses
// there is one mistake, and what follows from it is silent.
func TestNothing(t *testing.T) {
	for name, c := range nothing {
		t.Run(name, func(t *testing.T) {
			g := graph.New(name)
			x, e := g.Input("x", graph.F32, graph.Dims(3, 4)...), g.Input("e", graph.F32, graph.Dims(0, 4)...)
			k, none := g.Input("k", graph.I32, graph.Dims(3)...), g.Input("none", graph.I32, graph.Dims(0)...)
			y := c.make(g, x, e, k, none)
			if err := g.Err(); err != nil {
				was := err.Error()
				ops.Mean(ops.Tanh(ops.Add(y, ops.Sum(y, 0))))
				if g.Err().Error() != was || strings.Count(was, "\n") > 0 || !strings.Contains(was, c.want) {
					t.Errorf("want one mistake, %s, got\n%v", c.want, g.Err())
				}
				return
			}
			feed := tape.Feed{x: tape.Of(x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), k: tape.Of(k, 0, 2, 1)}
			for _, n := range g.Leaves(graph.RoleInput) {
				if n.Shape().Len() == 0 {
					feed[n] = tape.Of[float64](n)
				}
			}
			v, err := tape.Eval(t.Context(), feed, y)
			if err != nil {
				t.Fatal(err)
			}
			if got := v[y].String(); got != c.want && (c.want != "f32[]: nan" || v[y].Data[0] == v[y].Data[0]) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
