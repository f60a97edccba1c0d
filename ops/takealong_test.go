package ops_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// An index along an axis that is outside it is refused in the axis's own terms, though the elements
// are taken from all of x at once.
func TestTakeAlongOutsideTheAxis(t *testing.T) {
	for name, call := range map[string]func(x, index, values node) node{
		"TakeAlong": func(x, index, _ node) node { return ops.TakeAlong(x, index, "j") },
		"Pick":      func(x, index, _ node) node { return ops.Pick(ops.Stack(1, "k", x, x), index, "j") },
		"AddAlong":  func(_, index, values node) node { return ops.AddAlong(index, values, "k", graph.Ax("j", 3)) },
	} {
		g := graph.New("")
		x := g.Input("x", graph.F64, graph.Ax("i", 2), graph.Ax("j", 3))
		index := g.Input("a", graph.I32, graph.Ax("i", 2), graph.Ax("k", 2))
		values := g.Input("v", graph.F64, graph.Ax("i", 2), graph.Ax("k", 2))
		y := call(x, index, values)
		feed := graph.Values{x: graph.NewValue(x.Type()), values: graph.NewValue(values.Type()), index: {Type: index.Type(), Data: []float64{0, 2, 3, 1}}}
		want := name + ": a[i=1 k=0] is 3: want an index from 0 to 2"
		outside := new(trait.IndexError)
		if _, err := ref.Eval(trait.Env{}, feed, y); !errors.As(err, &outside) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("by definition: %v, want %s", err, want)
		}
		if _, err := reftest.Tape(0, feed, []node{y}); !errors.As(err, &outside) || !strings.Contains(err.Error(), want) {
			t.Errorf("on the tape: %v, want %s", err, want)
		}
	}
}

// TestAlongMistakes: what does not fit is said with what was expected.
func TestAlongMistakes(t *testing.T) {
	for _, c := range []struct {
		call func(g *graph.Graph, x node) node
		want string
	}{
		{func(g *graph.Graph, x node) node {
			return ops.TakeAlong(x, g.Input("a", graph.I64, graph.Ax("k", 2)), "j")
		}, "TakeAlong: indices of shape [k=2]: want that of [i=2 j=3] but for axis j=3"},
		{func(g *graph.Graph, x node) node {
			return ops.TakeAlong(x, g.Input("a", graph.I64, graph.Ax("n", 2), graph.Ax("k", 2)), "j")
		}, "TakeAlong: indices of shape [n=2 k=2]: want that of [i=2 j=3] but for axis j=3"},
		{func(g *graph.Graph, x node) node {
			return ops.TakeAlong(x, g.Constant(graph.I64, []float64{0, 3}, graph.Ax("i", 2), graph.Ax("j", 1)), "j")
		}, "is 3: want an index from 0 to 2"},
		{func(_ *graph.Graph, x node) node { return ops.At(x, "j", 3) }, "At: index 3 of axis j=3: want one from -3 to 2"},
		{func(_ *graph.Graph, x node) node { return ops.At(x, "j", "first") }, "At: an index of type string: want an int or a node"},
		{func(g *graph.Graph, x node) node { return ops.At(x, "j", g.Input("a", graph.I64, graph.Ax("k", 2))) },
			"At: an index of shape [k=2]: want a scalar, or ops.Gather"},
		{func(_ *graph.Graph, x node) node { y, _ := ops.TopK(x, 4, "j"); return y }, "TopK: 4 of axis j=3: want from 1 to 3"},
		{func(g *graph.Graph, x node) node {
			return ops.Pick(x, g.Input("a", graph.I64, graph.Ax("k", 2)), "j")
		}, "Pick: indices of shape [k=2]: want that of [i=2 j=3] without axis j=3"},
		{func(g *graph.Graph, x node) node {
			return ops.Pick(x, g.Input("a", graph.I64, graph.Ax("i", 2), graph.Ax("j", 1)), "j")
		}, "Pick: indices of shape [i=2 j=1]: want that of [i=2 j=3] without axis j=3"},
		{func(g *graph.Graph, x node) node { return ops.Pick(x, g.Input("a", graph.F64, graph.Ax("i", 2)), "j") }, "Pick: indices of type f64: want i32 or i64"},
		{func(g *graph.Graph, x node) node {
			return ops.Pick(x, g.Constant(graph.I64, []float64{0, 3}, graph.Ax("i", 2)), "j")
		}, "is 3: want an index from 0 to 2"},
		{func(g *graph.Graph, x node) node { return ops.Flatten(x, g.Input("a", graph.F32)) }, "Flatten: element types differ: f64 and f32"},
		{func(_ *graph.Graph, x node) node { return ops.Sort(x, "j", 2) }, "Sort: order 2: want ops.Ascending or ops.Descending"},
		{func(_ *graph.Graph, x node) node { return ops.Unstack(x, "k")[0] }, `Unstack: `},
		{func(g *graph.Graph, _ node) node { return ops.Full(g, graph.I32, 0.5, graph.Ax("i", 2)) }, "Full: "},
	} {
		g := graph.New("")
		y := c.call(g, g.Input("x", graph.F64, graph.Ax("i", 2), graph.Ax("j", 3)))
		if y.IsValid() || g.Err() == nil || !strings.Contains(g.Err().Error(), c.want) {
			t.Errorf("%v, want %s", g.Err(), c.want)
		}
	}
}

// TestAlongMapped: with an axis for examples, whichever operand has it, each example is computed as
// alone.
func TestAlongMapped(t *testing.T) {
	for _, both := range []string{"xa", "x", "a"} {
		g := graph.New("")
		b := graph.Ax("b", 2)
		typed := func(name string, dt graph.DType, axes ...graph.Axis) node {
			if strings.Contains(both, name) {
				axes = append([]graph.Axis{b}, axes...)
			}
			return g.Input(name, dt, axes...)
		}
		x := typed("x", graph.F64, graph.Ax("i", 2), graph.Ax("j", 3))
		a := typed("a", graph.I64, graph.Ax("i", 2), graph.Ax("j", 2))
		f := func(in ...node) node {
			taken := ops.TakeAlong(in[0], in[1], "j")
			picked := ops.Pick(in[0], ops.At(in[1], "j", 0), "j")
			taken = ops.Add(taken, ops.Expand(picked, 1, "j"))
			return ops.Add(taken, ops.Slice(ops.AddAlong(in[1], taken, "j", graph.Ax("j", 4)), "j", 1, 3))
		}
		feed := graph.Values{x: graph.NewValue(x.Type()), a: graph.NewValue(a.Type())}
		for p := range feed[x].Data {
			feed[x].Data[p] = float64(p + 1)
		}
		for p := range feed[a].Data {
			feed[a].Data[p] = float64(p * 2 % 3)
		}
		var in []node
		for _, e := range []node{x, a} {
			if e.Shape().Index("b") >= 0 {
				in = append(in, e)
			}
		}
		y := vmap.Each(func(one []node) []node {
			args := []node{x, a}
			for k, e := range in {
				args[slices.Index(args, e)] = one[k]
			}
			return []node{f(args...)}
		}, in...)[0]
		var parts []node
		for i := range 2 {
			args := []node{x, a}
			for k, e := range args {
				if e.Shape().Index("b") >= 0 {
					args[k] = ops.At(e, "b", i)
				}
			}
			parts = append(parts, f(args...))
		}
		want := ops.Stack(0, "b", parts...)
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		v, err := ref.Eval(trait.Env{}, feed, y, want)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(v[0].Data, v[1].Data) {
			t.Errorf("examples of %s: %v, want %v", both, v[0], v[1])
		}
		agree(t, feed, y)
	}
}
