package train_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// words builds a loss that reads rows of two tables, one of them twice, and a net on top.
func words(vocabulary int) (g *graph.Graph, loss *graph.Node, feed func(r *rand.Rand) tape.Feed) {
	g = graph.New("words")
	v, d := graph.Ax("v", vocabulary), graph.Ax("d", 6)
	in, out := g.Param("in", graph.F32, v, d), g.Param("out", graph.F32, v, d)
	a, b := g.Input("a", graph.I64, graph.Ax("n", 5)), g.Input("b", graph.I32, graph.Ax("n", 5), graph.Ax("k", 2))
	fc := nn.NewLinear(g, "fc", graph.F32, d, graph.Ax("h", 3))
	h := ops.Add(ops.Gather(in, a, "v"), ops.Mean(ops.Gather(in, b, "v"), "k"))
	score := ops.Sum(ops.Mul(h, ops.Gather(out, a, "v")), "d")
	loss = ops.Add(ops.Mean(ops.Softplus(score)), ops.Mean(ops.Square(fc.Of(h)))).As("loss")
	return g, loss, func(r *rand.Rand) tape.Feed {
		x, y := make([]int64, 5), make([]int32, 10)
		for i := range x {
			x[i] = r.Int64N(int64(vocabulary))
		}
		for i := range y {
			y[i] = r.Int32N(3) // often equal
		}
		return tape.Feed{a: tensor.New(tensor.WithShape(5), tensor.WithBacking(x)), b: tensor.New(tensor.WithShape(5, 2), tensor.WithBacking(y))}
	}
}

// after trains for some steps and returns the values of the store, and the listing.
func after(t *testing.T, o train.Optimiser, vocabulary int, options ...tape.Option) (map[string][]float32, *tape.Program) {
	t.Helper()
	g, loss, feed := words(vocabulary)
	step := o.Minimize(loss)
	p, err := tape.Compile(g, append(options, tape.Fetch(loss), tape.Do(step))...)
	if err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(g, tape.Seed(3))
	vm, err := p.NewVM(store)
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		if err := vm.Run(context.Background(), feed(r)); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string][]float32{}
	for _, n := range g.Leaves(graph.RoleParam, graph.RoleState) {
		v, err := store.Get(n.Path())
		if err != nil {
			t.Fatal(err)
		}
		if n.Rank() > 0 {
			out[n.Path()] = slices.Clone(v.Float32s())
		}
	}
	return out, p
}

// TestTouchedRows: SGD, Adagrad and lazy Adam touch the rows that are read alone, with the bits that
// they have where they touch all; what moves every row, as Adam and weight decay do, is left as it is.
func TestTouchedRows(t *testing.T) {
	const rows = 4000
	var dense []rewrite.Pass
	for _, p := range rewrite.Passes() {
		if p.Name != "rows" {
			dense = append(dense, p)
		}
	}
	for _, c := range []struct {
		o      train.Optimiser
		sparse int // tables and states that are written at rows
	}{
		{train.SGD(.3), 2}, {train.Adagrad(.1), 4}, {train.LazyAdam(.1), 6}, {train.SGD(.3, train.ClipNorm(.5)), 2},
		{train.LazyAdam(.1, train.ClipNorm(.01)), 6},
		{train.Adam(.1), 0}, {train.SGD(.3, train.WeightDecay(.1)), 0}, {train.Momentum(.1, .9), 0}, {train.LazyAdam(.1, train.WeightDecay(.1)), 0},
	} {
		got, p := after(t, c.o, rows)
		want, all := after(t, c.o, rows, tape.Passes(dense...))
		clipped := strings.Contains(fmt.Sprint(c.o), "clip")
		for path, v := range want {
			for i := range v {
				if d := got[path][i] - v[i]; d != 0 && !(clipped && d < 1e-5 && d > -1e-5) {
					t.Errorf("%v: %s has %v at %d, want %v", c.o, path, got[path][i], i, v[i])
					break
				}
			}
		}
		n := strings.Count(p.String(), " Scatter ")
		if n != c.sparse {
			t.Errorf("%v: %d tables are written at rows, want %d:\n%v", c.o, n, c.sparse, p)
		}
		if c.sparse > 0 && p.Traffic()*20 > all.Traffic() {
			t.Errorf("%v: %d bytes are moved, %d if all rows are touched:\n%v", c.o, p.Traffic(), all.Traffic(), p)
		}
	}
}

// TestLazyAdamIsAdam: where every step reads every row, both have the same bits; where not, rows that
// are not read stay as they are, and so do their moments.
func TestLazyAdamIsAdam(t *testing.T) {
	build := func(o train.Optimiser, read []int64) map[string][]float32 {
		g := graph.New("table")
		table := g.Param("table", graph.F32, graph.Ax("v", 12), graph.Ax("d", 2))
		k := g.Input("k", graph.I64, graph.Ax("n", len(read)))
		loss := ops.Mean(ops.Square(ops.Shift(ops.Gather(table, k, 0), 1)))
		step := o.Minimize(loss)
		p, err := tape.Compile(g, tape.Do(step))
		if err != nil {
			t.Fatal(err)
		}
		vm, err := p.NewVM(tape.NewStore(g, tape.Seed(5)))
		if err != nil {
			t.Fatal(err)
		}
		defer vm.Close()
		out := map[string][]float32{}
		for range 9 {
			if err := vm.Run(context.Background(), tape.Feed{k: tensor.New(tensor.WithShape(len(read)), tensor.WithBacking(slices.Clone(read)))}); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range []string{"table", "m/table", "v/table"} {
			if n != "table" {
				n = o.Name() + "/" + n
			}
			v, err := vm.Store().Get(n)
			if err != nil {
				continue // SGD has no moments
			}
			out[strings.TrimPrefix(n, o.Name()+"/")] = slices.Clone(v.Float32s())
		}
		return out
	}
	every := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 3}
	adam, lazy := build(train.Adam(.1), every), build(train.LazyAdam(.1), every)
	for n := range adam {
		if !slices.Equal(adam[n], lazy[n]) {
			t.Errorf("%s: %v, want %v", n, lazy[n], adam[n])
		}
	}
	start, few := build(train.SGD(0), every), build(train.LazyAdam(.1), []int64{7, 2, 7})
	for i := range start["table"] {
		read := i/2 == 7 || i/2 == 2
		if moved := few["table"][i] != start["table"][i]; moved != read {
			t.Errorf("row %d moved: %v", i/2, moved)
		}
		if moved := few["m/table"][i] != 0; moved != read {
			t.Errorf("the moments of row %d moved: %v", i/2, moved)
		}
	}
}
