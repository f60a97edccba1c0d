package ops_test

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// noisy is a loop that draws in its step, also within a loop in the step, and gives the draws.
func noisy(checkpoint int, reverse bool) (g *graph.Graph, wrt []node, r ops.Scanned) {
	g = graph.New("noisy")
	d := graph.Ax("d", 3)
	x, h := g.Input("x", graph.F64, graph.Ax("t", 5), d), g.Input("h", graph.F64, d)
	r = ops.Scan(ops.Loop{Carry: []node{h}, Over: []node{x}, Axis: "t", Checkpoint: checkpoint, Reverse: reverse}, func(c, x, _ []node) (next, out []node) {
		u := ops.RandomUniform(g, "u", graph.F64, d)
		inner := ops.Scan(ops.Loop{Carry: []node{u}, Steps: 2}, func(c, _, _ []node) (next, out []node) {
			return c, []node{ops.RandomNormal(g, "ε", graph.F64, d)}
		})
		return []node{ops.Tanh(ops.Add(ops.Mul(c[0], u), ops.Mul(x[0], ops.Sum(inner.Out[0], 0))))}, []node{u, inner.Out[0]}
	})
	return g, []node{x, h}, r
}

// given is the same loop over draws that are given as sequences.
func given(u, ε graph.Value, reverse bool) (wrt []node, loss node) {
	g := graph.New("given")
	d := graph.Ax("d", 3)
	x, h := g.Input("x", graph.F64, graph.Ax("t", 5), d), g.Input("h", graph.F64, d)
	r := ops.Scan(ops.Loop{Carry: []node{h}, Over: []node{x, g.ConstantValue(u), g.ConstantValue(ε)}, Axis: 0, Reverse: reverse}, func(c, x, _ []node) (next, out []node) {
		return []node{ops.Tanh(ops.Add(ops.Mul(c[0], x[1]), ops.Mul(x[0], ops.Sum(x[2], 0))))}, nil
	})
	return []node{x, h}, ops.Sum(ops.Square(r.Final[0]))
}

// TestScanDraws: a step draws other numbers at each time, and at each time of an inner loop; the
// loop back and checkpoints see the same ones; values, first and second derivatives are those of
// the loop that is given the draws.
func TestScanDraws(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		var first [][]float64
		for _, checkpoint := range []int{0, 2} {
			g, wrt, r := noisy(checkpoint, reverse)
			loss := ops.Sum(ops.Square(r.Final[0]))
			got := everything(t, loss, wrt, append([]node{r.Final[0]}, r.Out...))
			roundTrip(t, g)
			seen := map[float64]bool{}
			for _, v := range slices.Concat(got[1], got[2]) {
				seen[v] = true
			}
			if len(seen) != 15+30 {
				t.Errorf("%d different numbers are drawn, want 45", len(seen))
			}
			gwrt, gloss := given(graph.Value{Type: r.Out[0].Type(), Data: got[1]}, graph.Value{Type: r.Out[1].Type(), Data: got[2]}, reverse)
			want := everything(t, gloss, gwrt, nil)
			for i := range want {
				if err := reftest.Near(got[i+3], want[i], 1e-12*max(1, reftest.Largest(want[i]))); err != nil {
					t.Errorf("checkpoint %d, reverse %v, value %d: %v", checkpoint, reverse, i, err)
				}
			}
			if first == nil {
				first = got
			}
			for i := range 3 {
				if err := reftest.Near(got[i], first[i], 0); err != nil {
					t.Errorf("checkpoint %d, reverse %v, result %d: %v", checkpoint, reverse, i, err)
				}
			}
		}
	}
}

// draws is a loop that gives three draws.
func draws(g *graph.Graph, carry ...node) ops.Scanned {
	return ops.Scan(ops.Loop{Carry: carry, Over: []node{g.ConstantValue(graph.NewValue(graph.Type{DType: graph.F64, Shape: ones}))}}, func(c, _, _ []node) (next, out []node) {
		return c, []node{ops.RandomUniform(g, "u", graph.F64)}
	})
}

var ones, _ = graph.NewShape(graph.Ax("t", 3))

// TestLoopsDrawApart: two loops of one scope draw different numbers, and a draw beside them others;
// two runs draw different ones.
func TestLoopsDrawApart(t *testing.T) {
	g := graph.New("apart")
	all := []node{draws(g).Out[0], draws(g).Out[0], ops.RandomUniform(g, "u", graph.F64)}
	runs, err := reftest.Runs(2, 4, nil, all[:2])
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(runs[0][0].Data, runs[1][0].Data) {
		t.Errorf("two runs draw %v", runs[0][0].Data)
	}
	v, err := ref.Eval(trait.Env{Seed: 4}, nil, all...)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []float64
	for _, x := range v {
		numbers = append(numbers, x.Data...)
	}
	slices.Sort(numbers)
	if n := len(slices.Compact(numbers)); n != 7 {
		t.Errorf("%d different numbers of 7", n)
	}
}

// TestScanDrawsInBatches: mapped over examples, a loop draws for each anew, the first as if it were
// alone, also where nothing but the draws tells the examples apart.
func TestScanDrawsInBatches(t *testing.T) {
	for _, carried := range []bool{false, true} {
		g := graph.New("batch")
		x := g.Input("x", graph.F64)
		var carry []node
		if carried {
			carry = []node{x}
		}
		r := draws(g, carry...)
		many := g.Input("many", graph.F64, graph.Ax("b", 4))
		y := vmap.Map([]node{ops.Add(r.Out[0], x)}, vmap.Over{X: x, Batch: many})[0]
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		feed := graph.Values{x: graph.NewValue(x.Type()), many: graph.NewValue(many.Type())}
		v, err := ref.Eval(trait.Env{}, feed, y, r.Out[0])
		if err != nil {
			t.Fatal(err)
		}
		agree(t, feed, y, r.Out[0])
		if !slices.Equal(v[0].Data[:3], v[1].Data) {
			t.Errorf("carried %v: the first example has %v, alone %v", carried, v[0].Data[:3], v[1].Data)
		}
		numbers := slices.Clone(v[0].Data)
		slices.Sort(numbers)
		if n := len(slices.Compact(numbers)); n != 12 {
			t.Errorf("carried %v: %d different numbers of 12: %v", carried, n, v[0].Data)
		}
	}
}

// TestJacobianOfDraws: the rows of a Jacobian share the draws.
func TestJacobianOfDraws(t *testing.T) {
	g := graph.New("jacobian")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	r := ops.Scan(ops.Loop{Carry: []node{x}, Steps: 2}, func(c, _, _ []node) (next, out []node) {
		u := ops.RandomUniform(g, "u", graph.F64, graph.Ax("i", 3))
		return []node{ops.Mul(ops.Sin(c[0]), u)}, []node{u}
	})
	all := []node{grad.Jacobian(r.Final[0], x), grad.Of(ops.Sum(r.Final[0]), x)[0]}
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	feed := graph.Values{x: graph.Value{Type: x.Type(), Data: []float64{1, 2, 3}}}
	v, err := ref.Eval(trait.Env{}, feed, all...)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, feed, all...)
	want := make([]float64, 9)
	for i := range 3 {
		want[4*i] = v[1].Data[i]
	}
	if err := reftest.Near(v[0].Data, want, 1e-15); err != nil {
		t.Error(err)
	}
}
