package tape_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// indexed is a step with indices k[n=40 m=3] below 7.
type indexed struct {
	g       *graph.Graph
	k       *graph.Node
	outputs []*graph.Node
	step    graph.Step
}

const indexRows = 40

// indexedSteps are steps whose indices are fed, computed, or an operation of the user's, in groups
// and alone, in loops, and in updates. The text is what index 9 at n=23 m=1 and at n=31 m=0 must
// give.
var indexedSteps = map[string]struct {
	want string
	make func(g *graph.Graph, k *graph.Node) (loss *graph.Node)
}{
	"Gather": {"Gather: k[n=23 m=1] is 9: want an index from 0 to 6", func(g *graph.Graph, k *graph.Node) *graph.Node {
		return ops.Mean(ops.Square(ops.Tanh(ops.Gather(g.Param("table", graph.F32, graph.Ax("w", 7), graph.Ax("d", 5)), k, 0))))
	}},
	"Gather of columns": {"Gather: k[n=23 m=1] is 9: want an index from 0 to 6", func(g *graph.Graph, k *graph.Node) *graph.Node {
		return ops.Mean(ops.Square(ops.Gather(g.Param("table", graph.F32, graph.Ax("d", 5), graph.Ax("w", 7)), k, 1)))
	}},
	"Gather by what is computed": {"Gather: %4[n=23 m=1] is 10: want an index from 0 to 7", func(g *graph.Graph, k *graph.Node) *graph.Node {
		return ops.Mean(ops.Square(ops.Gather(g.Param("table", graph.F32, graph.Ax("w", 8), graph.Ax("d", 5)), ops.Shift(k, 1), 0)))
	}},
	"OneHot": {"OneHot: k[n=23 m=1] is 9: want an index from 0 to 6", func(g *graph.Graph, k *graph.Node) *graph.Node {
		hot := ops.OneHot(k, -1, graph.Ax("w", 7), graph.F32)
		return ops.Mean(ops.Square(ops.Add(hot, g.Param("table", graph.F32, graph.Ax("w", 7)))))
	}},
	"ScatterAdd": {"ScatterAdd: k[n=23 m=1] is 9: want an index from 0 to 6", func(g *graph.Graph, k *graph.Node) *graph.Node {
		p := g.Param("p", graph.F32, graph.Ax("n", indexRows), graph.Ax("m", 3), graph.Ax("d", 5))
		return ops.Sum(ops.Square(ops.ScatterAdd(k, ops.Tanh(p), 0, graph.Ax("w", 7), graph.Ax("d", 5))))
	}},
	"CrossEntropy": {"CrossEntropy: k[n=23 m=1] is 9: want an index from 0 to 6, in cross-entropy", func(g *graph.Graph, k *graph.Node) *graph.Node {
		return nn.CrossEntropy(g.Param("scores", graph.F32, graph.Ax("n", indexRows), graph.Ax("m", 3), graph.Ax("c", 7)), k)
	}},
	"the user's": {"pick: k[n=23 m=1] is 9: want an index from 0 to 6", func(g *graph.Graph, k *graph.Node) *graph.Node {
		s := g.Param("s", graph.F32)
		return ops.Mul(s, ops.Mean(graph.Apply(pick{}, g.Input("numbers", graph.F32, graph.Ax("w", 7)), k)))
	}},
	"a loop": {"Gather: k[m=1] is 9: want an index from 0 to 6, at time 23 of a loop", func(g *graph.Graph, k *graph.Node) *graph.Node {
		table := g.Param("table", graph.F32, graph.Ax("w", 7))
		r := ops.Scan(ops.Loop{Carry: nodes{ops.Lit(table, 0)}, Over: nodes{k}, With: nodes{table}}, func(c, x, w nodes) (next, out nodes) {
			return nodes{ops.Add(ops.Tanh(c[0]), ops.Sum(ops.Gather(w[0], x[0], 0)))}, nil
		})
		return r.Final[0]
	}},
	"a loop backwards": {"is 9: want an index from 0 to 6, at time 31 of a loop", func(g *graph.Graph, k *graph.Node) *graph.Node {
		table := g.Param("table", graph.F32, graph.Ax("w", 7))
		r := ops.Scan(ops.Loop{Carry: nodes{ops.Lit(table, 0)}, Over: nodes{k}, With: nodes{table}, Reverse: true}, func(c, x, w nodes) (next, out nodes) {
			return nodes{ops.Add(ops.Tanh(c[0]), ops.Sum(ops.Gather(w[0], x[0], 0)))}, nil
		})
		return r.Final[0]
	}},
	"checkpoints": {"is 9: want an index from 0 to 6, at time 3 of a loop, at time 2 of a loop", func(g *graph.Graph, k *graph.Node) *graph.Node {
		table := g.Param("table", graph.F32, graph.Ax("w", 7))
		r := ops.Scan(ops.Loop{Carry: nodes{ops.Lit(table, 0)}, Over: nodes{k}, With: nodes{table}, Checkpoint: 10}, func(c, x, w nodes) (next, out nodes) {
			return nodes{ops.Add(ops.Tanh(c[0]), ops.Sum(ops.Gather(w[0], x[0], 0)))}, nil
		})
		return r.Final[0]
	}},
}

// pick is an operation of the user's that takes elements at indices, and does not look at them.
type pick struct{}

func (pick) Name() string { return "pick" }
func (pick) Infer(in []*graph.Node) (graph.Type, error) {
	return graph.Type{DType: in[0].DType(), Shape: in[1].Shape()}, nil
}
func (pick) Places(y *graph.Node) (operand, size int) { return 1, y.In(0).Dim(0) }
func (pick) Run(_ *graph.Node, out tape.Array, in []tape.Array) {
	for i, k := range in[1].I64 {
		out.F32[i] = in[0].F32[k]
	}
}

// feed are the indices, all right but the given ones.
func (m indexed) feed(wrong map[[2]int]int64) tape.Feed {
	v := graph.NewValue(m.k.Type())
	for i := range v.Data {
		v.Data[i] = float64(i * i % 7)
	}
	for at, w := range wrong {
		v.Data[3*at[0]+at[1]] = float64(w)
	}
	feed := tape.Feed{m.k: tape.Tensor(v)}
	if n := m.g.Lookup("numbers"); n != nil {
		feed[n] = f32([]int{7}, 1, 2, 3, 4, 5, 6, 7)
	}
	return feed
}

func newIndexed(make func(g *graph.Graph, k *graph.Node) *graph.Node) indexed {
	g := graph.New("indexed")
	k := g.Input("k", graph.I64, graph.Ax("n", indexRows), graph.Ax("m", 3))
	loss := make(g, k)
	m := indexed{g: g, k: k, outputs: nodes{loss}}
	m.step = train.SGD(0.1).Minimize(loss)
	return m
}

// TestWrongIndex: an index outside of its axis fails the run in the same words whoever computes and
// however, and nothing is committed; the next run is as if it had not been.
func TestWrongIndex(t *testing.T) {
	for name, c := range indexedSteps {
		t.Run(name, func(t *testing.T) {
			m := newIndexed(c.make)
			options := map[string][]tape.Option{"": nil, "unfused": {tape.Unfused()}, "fine": {tape.Fine()}, "as written": {tape.Passes()}}
			p := compile(t, m.g, tape.Fetch(m.outputs...), tape.Do(m.step))
			options["budget"] = []tape.Option{tape.Budget(p.Arena() * 9 / 10)}
			for way, o := range options {
				p, err := tape.Compile(m.g, slices.Concat([]tape.Option{tape.Fetch(m.outputs...), tape.Do(m.step)}, o)...)
				if err != nil && way == "budget" {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				for _, workers := range []int{1, 2, 8} {
					store := tape.NewStore(m.g, tape.Seed(2))
					vm := tapetest.VM(t, p, store, tape.Workers(workers))
					run(t, vm, m.feed(nil))
					before := everything(t, store)
					err := vm.Run(context.Background(), m.feed(map[[2]int]int64{{23, 1}: 9, {31, 0}: 9}))
					outside := new(trait.IndexError)
					if !errors.As(err, &outside) || !strings.HasSuffix(err.Error(), c.want+": nothing was committed") && way != "as written" {
						t.Errorf("%s, %d workers: %v, want %s", way, workers, err, c.want)
					}
					if pos := "tape/indices_test.go:"; err != nil && !strings.HasPrefix(err.Error(), pos) {
						t.Errorf("%s: %v does not begin with %s", way, err, pos)
					}
					if _, err := vm.Value(m.outputs[0]); err == nil || everything(t, store) != before || store.Step() != 1 {
						t.Errorf("%s, %d workers: the run has left something", way, workers)
					}
					run(t, vm, m.feed(nil))
					other := tape.NewStore(m.g, tape.Seed(2))
					again := tapetest.VM(t, p, other, tape.Workers(workers))
					run(t, again, m.feed(nil))
					run(t, again, m.feed(nil))
					if everything(t, store) != everything(t, other) {
						t.Errorf("%s, %d workers: the run after is another", way, workers)
					}
					vm.Close()
					again.Close()
				}
			}
		})
	}
}

// everything returns the contents of a store, as text.
func everything(t *testing.T, s *tape.Store) string {
	t.Helper()
	var b strings.Builder
	for _, p := range s.Paths() {
		fmt.Fprintln(&b, p, stored(t, s, p))
	}
	return b.String()
}

// TestFirstWrongIndex: of wrong indices of several operations, the first operation's is told, in
// whatever order they run.
func TestFirstWrongIndex(t *testing.T) {
	g := graph.New("two")
	a, b := g.Input("a", graph.I32, graph.Ax("n", 500)), g.Input("b", graph.I32, graph.Ax("n", 500))
	table := g.Param("table", graph.F32, graph.Ax("w", 7), graph.Ax("d", 5))
	x, y := ops.Gather(table, a, 0), ops.Gather(table, b, 0)
	loss := ops.Sum(ops.Add(ops.Exp(y), ops.Square(x)))
	v := make([]int32, 500)
	v[499], v[17] = -3, 7
	feed := tape.Feed{a: tensor.New(tensor.WithBacking(v)), b: tensor.New(tensor.WithBacking(v))}
	for _, o := range [][]tape.Option{nil, {tape.Unfused()}, {tape.Fine()}} {
		p := compile(t, g, append(o, tape.Fetch(loss, grad.Of(loss, table)[0]))...)
		for workers := range 8 {
			vm := tapetest.VM(t, p, tape.NewStore(g), tape.Workers(workers+1))
			err := vm.Run(context.Background(), feed)
			if want := "Gather: a[n=17] is 7: want an index from 0 to 6: nothing was committed"; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%d workers: %v, want %s", workers+1, err, want)
			}
			vm.Close()
		}
	}
}

// TestWrongIndexInAnUpdate: an update that could be written in place waits for nothing that may
// fail, and is not begun.
func TestWrongIndexInAnUpdate(t *testing.T) {
	g := graph.New("update")
	k := g.Input("k", graph.I64, graph.Ax("n", 6))
	w := g.Param("w", graph.F32, graph.Ax("n", 6), graph.Ax("d", 4))
	step := graph.Step{g.Assign(w, ops.Add(w, ops.OneHot(k, -1, graph.Ax("d", 4), graph.F32)))}
	store := tape.NewStore(g)
	feed := func(last int64) tape.Feed {
		return tape.Feed{k: tape.Tensor(graph.Value{Type: k.Type(), Data: []float64{0, 1, 2, 3, 0, float64(last)}})}
	}
	before := everything(t, store)
	checked, trusting := compile(t, g, tape.Do(step)), compile(t, g, tape.Do(step), tape.TrustIndices())
	for _, c := range []struct {
		p       *tape.Program
		inPlace bool
	}{{checked, false}, {trusting, true}} {
		if in := strings.Contains(c.p.String(), "written in place"); in != c.inPlace {
			t.Errorf("written in place: %v, want %v\n%v", in, c.inPlace, c.p)
		}
	}
	err := tapetest.VM(t, checked, store).Run(context.Background(), feed(4))
	if outside := new(trait.IndexError); !errors.As(err, &outside) || everything(t, store) != before {
		t.Errorf("%v", err)
	}
	vm := tapetest.VM(t, trusting, store)
	run(t, vm, feed(4))
	if got := stored(t, store, "w")[20:]; !slices.Equal(got, []float64{0, 0, 0, 0}) && everything(t, store) == before {
		t.Errorf("a trusted index that is no place has changed %v", got)
	}
}

// TestWrongIndexSurvives: what looks at a program from inside tells the same error.
func TestWrongIndexSurvives(t *testing.T) {
	m := newIndexed(indexedSteps["Gather"].make)
	p := compile(t, m.g, tape.Fetch(m.outputs...), tape.Do(m.step))
	vm := tapetest.VM(t, p, tape.NewStore(m.g))
	bad := m.feed(map[[2]int]int64{{0, 0}: -1})
	outside := new(trait.IndexError)
	if _, err := vm.Profile(context.Background(), bad, 3); !errors.As(err, &outside) {
		t.Errorf("profile: %v", err)
	}
	if err := vm.Trace(context.Background(), bad, 1, &strings.Builder{}); !errors.As(err, &outside) {
		t.Errorf("trace: %v", err)
	}
}

// TestTrafficOfTables: a table counts for the rows that are taken of it, once for each index; what
// is added up begins with zeros everywhere.
func TestTrafficOfTables(t *testing.T) {
	const words, dims, tokens = 10_000, 16, 50
	g := graph.New("table")
	table, k := g.Param("table", graph.F32, graph.Ax("w", words), graph.Ax("d", dims)), g.Input("k", graph.I64, graph.Ax("t", tokens))
	x := g.Input("x", graph.F32, graph.Ax("t", tokens), graph.Ax("d", dims))
	taken := ops.Gather(table, k, 0)
	added := ops.ScatterAdd(k, x, 0, table.Shape().Axes()...)
	const index, slices = 8 * tokens, 4 * tokens * dims
	for n, want := range map[*graph.Node]int64{
		taken:                               index + 2*slices,
		ops.Gather(table, ops.Lit(k, 3), 0): 8 + 2*4*dims,
		added:                               index + slices + 4*words*dims,
	} {
		if p := compile(t, g, tape.Fetch(n)); p.Traffic() != want {
			t.Errorf("%v: %d B, want %d\n%v", n, p.Traffic(), want, p)
		}
	}
}
