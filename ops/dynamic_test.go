package ops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// inOrder are the numbers 1, 2, … for an input.
func inOrder(x node) graph.Value {
	v := graph.NewValue(x.Type())
	for i := range v.Data {
		v.Data[i] = float64(i + 1)
	}
	return v
}

// TestDynamicInALoop: a loop reads parts of an array around it at the times of its steps, and writes
// what it makes of them into a carry, with the values and derivatives of the steps written out.
func TestDynamicInALoop(t *testing.T) {
	g := graph.New("windows")
	x := g.Input("x", graph.F64, graph.Ax("i", 6))
	loop := ops.Loop{
		Over:  []node{ops.Arange(g, graph.I64, graph.Ax("t", 3))},
		Carry: []node{ops.Zeros(g, graph.F64, graph.Ax("i", 6))},
	}
	step := func(carry, over, _ []node) (next, outs []node) {
		part := ops.Square(ops.DynamicSlice(x, over[0], 2, "i"))
		return []node{ops.DynamicUpdate(carry[0], ops.Scale(over[0], 2), part, 0)}, nil
	}
	y, flat := ops.Scan(loop, step).Final[0], ops.Unroll(loop, step).Final[0]
	weights := g.Constant(graph.F64, []float64{1, 2, 3, 4, 5, 6}, graph.Ax("i", 6))
	dx := grad.Of(ops.Sum(ops.Mul(weights, y)), x)[0]
	dflat := grad.Of(ops.Sum(ops.Mul(weights, flat)), x)[0]
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	feed := graph.Values{x: inOrder(x)}
	agree(t, feed, y, flat, dx, dflat)
	for n, want := range map[node][]float64{
		y: {1, 4, 4, 9, 9, 16}, flat: {1, 4, 4, 9, 9, 16},
		dx: {2 * 1, 2 * 2 * (2 + 3), 2 * 3 * (4 + 5), 2 * 4 * 6, 0, 0}, dflat: {2, 20, 54, 48, 0, 0},
	} {
		if got := values(t, feed, n); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", n, got, want)
		}
	}
}

// TestDynamicOfExamples: examples with places of their own are one operation, not gathers.
func TestDynamicOfExamples(t *testing.T) {
	g := graph.New("crops")
	x, at := g.Input("x", graph.F64, graph.Ax("h", 4), graph.Ax("w", 3)), g.Input("at", graph.I32)
	xs, ats := g.Input("xs", graph.F64, graph.Ax("b", 2), graph.Ax("h", 4), graph.Ax("w", 3)), g.Input("ats", graph.I32, graph.Ax("b", 2))
	part := ops.DynamicSlice(x, at, 2, "h")
	written := ops.DynamicUpdate(x, at, ops.Neg(part), "h")
	each := vmap.Map([]node{part, written}, vmap.Over{X: x, Batch: xs}, vmap.Over{X: at, Batch: ats})
	shared := vmap.Map([]node{part, written}, vmap.Over{X: at, Batch: ats})
	direct := ops.DynamicSlice(xs, ats, 2, "h")
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	feed := graph.Values{x: inOrder(x), xs: inOrder(xs), at: {Type: at.Type(), Data: []float64{0}}, ats: {Type: ats.Type(), Data: []float64{2, 1}}}
	agree(t, feed, slices.Concat(each, shared, []node{direct})...)
	for n, want := range map[node][]float64{
		each[0]:   {7, 8, 9, 10, 11, 12, 16, 17, 18, 19, 20, 21},
		direct:    {7, 8, 9, 10, 11, 12, 16, 17, 18, 19, 20, 21},
		shared[0]: {7, 8, 9, 10, 11, 12, 4, 5, 6, 7, 8, 9},
		each[1]:   {1, 2, 3, 4, 5, 6, -7, -8, -9, -10, -11, -12, 13, 14, 15, -16, -17, -18, -19, -20, -21, 22, 23, 24},
	} {
		if got := values(t, feed, n); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", n, got, want)
		}
	}
	for _, n := range graph.Reachable(each...) {
		if name := n.Op().Name(); name == "Gather" || name == "Scatter" {
			t.Errorf("a batch has a %s", name)
		}
	}
}

// TestDynamicUpdateInPlace: where the array has no other use, the part is written into it, and the
// listing counts no more than the part.
func TestDynamicUpdateInPlace(t *testing.T) {
	g := graph.New("place")
	x, at := g.Input("x", graph.F32, graph.Ax("i", 1000)), g.Input("at", graph.I32)
	part := g.Input("part", graph.F32, graph.Ax("i", 10))
	y := ops.DynamicUpdate(ops.Exp(x), at, part, 0)
	prog, err := tape.Compile(g, tape.Fetch(y))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range prog.Rows() {
		if row.Op == "DynamicUpdate" {
			if !row.InPlace {
				t.Errorf("not in place:\n%v", prog)
			}
			if row.Traffic > 4*(10+10)+8 {
				t.Errorf("%d bytes for a part of 40:\n%v", row.Traffic, prog)
			}
			return
		}
	}
	t.Errorf("no update:\n%v", prog)
}

// TestDynamicMistakes: what does not fit is said with what was expected.
func TestDynamicMistakes(t *testing.T) {
	for _, c := range []struct {
		call func(g *graph.Graph, x node) node
		want string
	}{
		{func(g *graph.Graph, x node) node { return ops.DynamicSlice(x, g.Input("a", graph.I64), 4, "j") },
			"DynamicSlice: 4 elements of axis j=3"},
		{func(g *graph.Graph, x node) node { return ops.DynamicSlice(x, g.Input("a", graph.F32), 1, "j") },
			"DynamicSlice: indices of type f32: want i32 or i64"},
		{func(g *graph.Graph, x node) node {
			return ops.DynamicSlice(x, g.Input("a", graph.I64, graph.Ax("k", 5)), 1, "j")
		}, "DynamicSlice: places of shape [k=5]: want a scalar, or the first axes of [i=2 j=3], before j=3"},
		{func(g *graph.Graph, x node) node {
			return ops.DynamicSlice(x, g.Constant(graph.I64, []float64{2}), 2, "j")
		}, "[] is 2: want an index from 0 to 1"},
		{func(g *graph.Graph, x node) node {
			return ops.DynamicUpdate(x, g.Input("a", graph.I64), g.Input("p", graph.F64, graph.Ax("i", 1), graph.Ax("j", 2)), "j")
		}, "DynamicUpdate: a part of shape [i=1 j=2]: want that of [i=2 j=3] but for axis j=3"},
		{func(g *graph.Graph, x node) node {
			return ops.DynamicUpdate(x, g.Input("a", graph.I64), g.Input("p", graph.F32, graph.Ax("i", 2), graph.Ax("j", 2)), "j")
		}, "DynamicUpdate: element types differ: f64 and f32"},
		{func(g *graph.Graph, x node) node {
			return ops.SearchSorted(x, g.Input("v", graph.F64, graph.Ax("k", 2)), "j")
		}, "SearchSorted: numbers of shape [k=2]: want that of [i=2 j=3] but for axis j=3"},
		{func(_ *graph.Graph, x node) node { return ops.SearchSorted(x, x, "j", 7) },
			"SearchSorted: side 7: want ops.Left or ops.Right"},
	} {
		g := graph.New("")
		y := c.call(g, g.Input("x", graph.F64, graph.Ax("i", 2), graph.Ax("j", 3)))
		if err := g.Err(); y.IsValid() || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestMeetingOfGraphs: in the step of a loop, operands of which one is of the graph around it meet as
// they do outside.
func TestMeetingOfGraphs(t *testing.T) {
	for name, call := range map[string]func(x, k node) node{
		"At":        func(x, k node) node { return ops.At(x, "j", ops.At(k, 0, 0)) },
		"Pick":      func(x, k node) node { return ops.Pick(x, k, "j") },
		"Flatten":   func(x, k node) node { return ops.Flatten(x, ops.Cast(k, graph.F64)) },
		"TakeAlong": func(x, k node) node { return ops.TakeAlong(x, ops.Expand(k, 1, ""), "j") },
		"AddAlong": func(x, k node) node {
			return ops.AddAlong(ops.Expand(k, 1, ""), ops.Slice(x, 1, 0, 1), "j", graph.Ax("j", 3))
		},
		"LinearRecurrence": func(x, k node) node { return ops.LinearRecurrence(ops.Cast(ops.Expand(k, 1, ""), graph.F64), x, "j") },
		"SearchSorted":     func(x, k node) node { return ops.SearchSorted(x, ops.Cast(ops.Expand(k, 1, ""), graph.F64), "j") },
		"DynamicSlice":     func(x, k node) node { return ops.DynamicSlice(x, k, 1, "j") },
		"DynamicUpdate":    func(x, k node) node { return ops.DynamicUpdate(x, k, ops.Slice(ops.Neg(x), 1, 0, 1), "j") },
	} {
		g := graph.New(name)
		x, ks := g.Input("x", graph.F64, graph.Ax("i", 2), graph.Ax("j", 3)), g.Input("k", graph.I64, graph.Ax("t", 2), graph.Ax("i", 2))
		loop := ops.Loop{Over: []node{ks}}
		out := ops.Scan(loop, func(_, over, _ []node) (next, outs []node) { return nil, []node{call(x, over[0])} }).Out
		if err := g.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		feed := graph.Values{x: inOrder(x), ks: {Type: ks.Type(), Data: []float64{0, 2, 1, 1}}}
		for time := range 2 {
			want := values(t, feed, call(x, ops.At(ks, 0, time)))
			if got := values(t, feed, ops.At(out[0], 0, time)); !slices.Equal(got, want) {
				t.Errorf("%s at time %d: %v, want %v", name, time, got, want)
			}
		}
		agree(t, feed, out[0])
	}
}

// values are the elements of a node by its definition.
func values(t *testing.T, feed graph.Values, n node) []float64 {
	t.Helper()
	v, err := ref.Eval(trait.Env{}, feed, n)
	if err != nil {
		t.Fatal(err)
	}
	return v[0].Data
}
