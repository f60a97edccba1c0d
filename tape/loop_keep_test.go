package tape_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// kept is a loop with a carry h, a carry s, and an out.
func kept(steps int, l ops.Loop) (g *graph.Graph, x *graph.Node, r ops.Scanned) {
	g = graph.New("kept")
	x = g.Input("x", graph.F64, graph.Ax("t", steps), graph.Ax("d", 6))
	h := g.Param("h0", graph.F64, graph.Ax("d", 6))
	l.Carry, l.Over, l.With = nodes{h, ops.Lit(h, 0)}, nodes{x}, nodes{g.Param("w", graph.F64, graph.Ax("d", 6))}
	r = ops.Scan(l, func(c, x, w nodes) (next, out nodes) {
		h := ops.Tanh(ops.Add(ops.Mul(c[0], w[0]), x[0])).As("h")
		s := ops.Add(c[1], ops.Sum(h)).As("s")
		return nodes{h, s}, nodes{ops.Square(h).As("o")}
	})
	return g, x, r
}

// TestLoopKeeps: rows of a loop's value that nothing reads have no place; what is read has the same
// bits as where all is kept.
func TestLoopKeeps(t *testing.T) {
	const steps = 9
	for _, l := range []ops.Loop{{}, {Reverse: true}, {Checkpoint: 4}, {Checkpoint: 4, Reverse: true}} {
		chunked := l.Checkpoint > 0
		cases := map[string]struct {
			want  string // in the listing; "" for nothing
			nodes func(r ops.Scanned) []*graph.Node
		}{
			"final":       {"keeps the last of h, the last of s, none of o", func(r ops.Scanned) []*graph.Node { return r.Final }},
			"one final":   {"keeps the last of h, none of s, none of o", func(r ops.Scanned) []*graph.Node { return r.Final[:1] }},
			"out":         {"keeps none of h, none of s", func(r ops.Scanned) []*graph.Node { return r.Out }},
			"final, out":  {"keeps the last of h, none of s", func(r ops.Scanned) []*graph.Node { return nodes{r.Final[0], ops.Mean(r.Out[0])} }},
			"last out":    {"none of h, none of s, the last of o", func(r ops.Scanned) []*graph.Node { return nodes{late(r.Out[0], l.Reverse, 1)} }},
			"last outs":   {"none of h, none of s, the last 3 of o", func(r ops.Scanned) []*graph.Node { return nodes{late(r.Out[0], l.Reverse, 3)} }},
			"first out":   {"keeps none of h, none of s", func(r ops.Scanned) []*graph.Node { return nodes{late(r.Out[0], !l.Reverse, 1)} }},
			"traces":      {"keeps none of o", func(r ops.Scanned) []*graph.Node { return r.Trace }},
			"last traces": {"keeps the last 2 of h, none of s, none of o", func(r ops.Scanned) []*graph.Node { return nodes{late(r.Trace[0], l.Reverse, 2)} }},
			"backwards":   {"keeps the last 4 of h, none of s, none of o", func(r ops.Scanned) []*graph.Node { return nodes{ops.Reverse(late(r.Trace[0], l.Reverse, 4), 0)} }},
			"first trace": {"keeps none of s, none of o", func(r ops.Scanned) []*graph.Node { return nodes{late(r.Trace[0], !l.Reverse, 1)} }},
			"gradient": {"", func(r ops.Scanned) []*graph.Node {
				g := r.Final[0].Graph()
				return grad.Of(ops.Add(ops.Sum(r.Final[0]), ops.Sum(r.Out[0])), g.Lookup("h0"), g.Lookup("w"))
			}},
		}
		for name, c := range cases {
			if chunked && (strings.Contains(name, "trace") || name == "backwards") {
				continue // none is kept
			}
			g, x, r := kept(steps, l)
			out := c.nodes(r)
			p := compile(t, g, tape.Fetch(out...))
			if listing := p.String(); !chunked && (!strings.Contains(listing, c.want) || c.want == "" && strings.Contains(listing, "of h")) {
				t.Errorf("%+v, %s: want %q\n%s", l, name, c.want, listing)
			}
			v := graph.NewValue(x.Type())
			for i := range v.Data {
				v.Data[i] = float64(i%11)/5 - 1
			}
			// The same with every loop fetched, which then keeps all.
			all := slices.Clone(out)
			for _, n := range graph.Reachable(out...) {
				if n.Body() != nil {
					all = append(all, n)
				}
			}
			for _, o := range [][]tape.Option{{tape.Passes()}, {tape.Passes(), tape.Fine()}, {tape.Passes(), tape.Unfused()}} {
				whole, least := compile(t, g, append(o, tape.Fetch(all...))...), compile(t, g, append(o, tape.Fetch(out...))...)
				if !chunked && strings.Contains(whole.String(), "keeps") {
					t.Errorf("a loop that is fetched does not keep all\n%v", whole)
				}
				wantVM := tapetest.VM(t, whole, tape.NewStore(g, tape.Seed(1)))
				run(t, wantVM, tape.Feed{x: tape.Tensor(v)})
				for _, workers := range []int{1, 2, 8} {
					vm := tapetest.VM(t, least, tape.NewStore(g, tape.Seed(1)), tape.Workers(workers))
					for range 2 {
						run(t, vm, tape.Feed{x: tape.Tensor(v)})
					}
					for i, n := range out {
						if got, want := value(t, vm, n), value(t, wantVM, n); !slices.Equal(got, want) {
							t.Errorf("%+v, %s, %d workers: result %d is %v, want %v", l, name, workers, i, got, want)
						}
					}
					vm.Close()
				}
			}
		}
	}
}

// late are the last n rows in the order of the steps.
func late(x *graph.Node, reverse bool, n int) *graph.Node {
	if reverse {
		return ops.Slice(x, 0, 0, n)
	}
	return ops.Slice(x, 0, x.Dim(0)-n, x.Dim(0))
}

// TestLongLoopIsSmall: a thousand steps whose final carry alone is wanted take two carries, besides
// what is fetched; so does each loop in a loop.
func TestLongLoopIsSmall(t *testing.T) {
	const steps, size = 1000, 4096
	g := graph.New("long")
	h := g.Input("h", graph.F32, graph.Ax("d", size))
	step := func(c, _, _ nodes) (next, out nodes) { return nodes{ops.Tanh(ops.Scale(c[0], 1.5))}, nil }
	final := ops.Scan(ops.Loop{Carry: nodes{h}, Steps: steps}, step).Final[0]
	nested := ops.Scan(ops.Loop{Carry: nodes{h}, Steps: 50}, func(c, _, _ nodes) (next, out nodes) {
		return ops.Scan(ops.Loop{Carry: c, Steps: 20}, step).Final, nil
	}).Final[0]
	const carry = 4 * size
	for n, most := range map[*graph.Node]int{final: 3 * carry, nested: 6 * carry} {
		p := compile(t, g, tape.Fetch(n))
		if p.Arena() > most+1024 {
			t.Errorf("the arena takes %d B, of which a carry is %d\n%v", p.Arena(), carry, p)
		}
	}
	p := compile(t, g, tape.Fetch(final, nested))
	vm := tapetest.VM(t, p, tape.NewStore(g))
	x := make([]float32, size)
	for i := range x {
		x[i] = float32(i) / size
	}
	run(t, vm, tape.Feed{h: f32([]int{size}, x...)})
	if a, b := value(t, vm, final), value(t, vm, nested); !slices.Equal(a, b) {
		t.Error("1000 steps and 50 times 20 differ")
	}
}

// TestRecurrentModelsPredictInLess: what predicts alone keeps no rows that only training reads.
func TestRecurrentModelsPredictInLess(t *testing.T) {
	less := 0
	for _, b := range builders.All() {
		m, err := b.Build(nil, graph.F32)
		if err != nil || m.Output == nil {
			continue
		}
		if !slices.ContainsFunc(graph.Reachable(m.Output), func(n *graph.Node) bool { return n.Body() != nil }) {
			continue
		}
		p := compile(t, m.Graph, tape.Fetch(m.Output))
		all := nodes{m.Output}
		for _, n := range graph.Reachable(m.Output) {
			if n.Body() != nil {
				all = append(all, n)
			}
		}
		whole := compile(t, m.Graph, tape.Fetch(all...))
		if p.Arena() < whole.Arena() && strings.Contains(p.String(), "keeps") {
			less++
		}
		if p.Arena() > whole.Arena() {
			t.Errorf("%s: %d B, and %d B where loops keep all\n%v", b.Name, p.Arena(), whole.Arena(), p)
		}
		feed := tape.Tensors(m.Examples(rand.New(rand.NewPCG(1, 2))))
		var got [2][]float64
		for i, p := range []*tape.Program{p, whole} {
			vm := tapetest.VM(t, p, tape.NewStore(m.Graph))
			run(t, vm, feed)
			got[i] = value(t, vm, m.Output)
			vm.Close()
		}
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("%s says something else where loops keep less", b.Name)
		}
	}
	if less == 0 {
		t.Error("no recurrent model predicts in less")
	}
}

// TestTraceBeyondMemory: the type of a loop's value has the rows of all steps, which may be more
// than there is memory for, as long as a run keeps but a few of them; one that keeps them is
// refused by NewVM.
func TestTraceBeyondMemory(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("no such type")
	}
	const elements, steps = 1 << 20, 1_000_000 // 4 TB
	g := graph.New("long")
	c := g.Input("c", graph.F32, graph.Ax("d", elements))
	r := ops.Scan(ops.Loop{Carry: nodes{c}, Steps: steps}, func(c, _, _ nodes) (next, out nodes) { return nodes{ops.Tanh(c[0])}, nil })
	final := compile(t, g, tape.Fetch(r.Final[0]))
	if most := 4 * 4 * elements; final.Arena() > most {
		t.Errorf("the last carry takes %d bytes, want at most %d", final.Arena(), most)
	}
	tapetest.VM(t, final, tape.NewStore(g), tape.Limit(64<<20))
	_, err := compile(t, g, tape.Fetch(ops.Sum(r.Trace[0]))).NewVM(tape.NewStore(g), tape.Limit(64<<20))
	if err == nil || !strings.Contains(err.Error(), "needs 3.8 TiB and there are 64.0 MiB: the largest are the rows of Scan") {
		t.Errorf("all carries: %v", err)
	}
	if ops.Scan(ops.Loop{Carry: nodes{c}, Steps: 1 << 30}, func(c, _, _ nodes) (next, out nodes) { return c, nil }); g.Err() == nil ||
		!strings.HasSuffix(g.Err().Error(), "Scan: 1073741824 steps of 1 results have more than 2^40 elements: c[d=1048576]") {
		t.Errorf("%v", g.Err())
	}
}

// TestForwardModeKeepsWhatItReads: a tangent that does not depend on the carries keeps none of
// them; one that does keeps all, or with a checkpoint some.
func TestForwardModeKeepsWhatItReads(t *testing.T) {
	const elements, steps, row = 1024, 1024, 4 * 1024
	arena := func(checkpoint int, step func(c *graph.Node) *graph.Node) int {
		g := graph.New("tangents")
		c, δ := g.Input("c", graph.F32, graph.Ax("d", elements)), g.Input("δ", graph.F32, graph.Ax("d", elements))
		r := ops.Scan(ops.Loop{Carry: nodes{c}, Steps: steps, Checkpoint: checkpoint}, func(c, _, _ nodes) (next, out nodes) { return nodes{step(c[0])}, nil })
		return compile(t, g, tape.Fetch(grad.JVP(r.Final, nodes{c}, nodes{δ})[0])).Arena()
	}
	linear := func(c *graph.Node) *graph.Node { return ops.Scale(c, 0.9) }
	if all, some, none := arena(0, ops.Tanh), arena(32, ops.Tanh), arena(0, linear); all < steps*row || some > 100*row || none > 8*row {
		t.Errorf("a run takes %d bytes, %d with checkpoints, %d where the carries are not read", all, some, none)
	}
}
