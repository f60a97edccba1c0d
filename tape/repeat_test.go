package tape_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// bits are the bit patterns of a node's last value.
func bits(t testing.TB, vm *tape.VM, n *graph.Node) []uint64 {
	t.Helper()
	var out []uint64
	for _, v := range value(t, vm, n) {
		out = append(out, math.Float64bits(v))
	}
	return out
}

// TestRunsRepeatBitwise: a program run again, on another VM, or compiled again
// with every node of the graph watched, gives the same bits.
func TestRunsRepeatBitwise(t *testing.T) {
	for seed := range uint64(60) {
		m, wanted := randomModel(t, seed, 20, graph.F32)
		p := compile(t, m.Graph, tape.Fetch(wanted...))
		watched := compile(t, m.Graph, tape.Fetch(wanted...), tape.Watch(m.Graph.Nodes()...))
		feed, store := load(t, m, seed)
		first := p.NewVM(store)
		run(t, first, feed)
		want := map[*graph.Node][]uint64{}
		for _, n := range wanted {
			want[n] = bits(t, first, n)
		}
		for name, vm := range map[string]*tape.VM{"again": first, "another VM": p.NewVM(store), "all watched": watched.NewVM(store)} {
			run(t, vm, feed)
			for _, n := range wanted {
				if got := bits(t, vm, n); !slices.Equal(got, want[n]) {
					t.Errorf("seed %d, %s: %v has other bits: %x, %x before", seed, name, n, got, want[n])
				}
			}
		}
	}
}

// TestProgramsAreDeterministic: compiling again gives the same tape.
func TestProgramsAreDeterministic(t *testing.T) {
	for seed := range uint64(30) {
		m, wanted := randomModel(t, seed, 20, graph.F32)
		a := compile(t, m.Graph, tape.Fetch(wanted...), tape.Do(m.Step)).String()
		b := compile(t, m.Graph, tape.Fetch(wanted...), tape.Do(m.Step)).String()
		if a != b {
			t.Errorf("seed %d: two programs:\n%s\n%s", seed, a, b)
		}
	}
}

func TestRandomDraws(t *testing.T) {
	g := graph.New("draws")
	n := g.State("n", graph.F32)
	normal := ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 37))
	same := ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 37)) // another ordinal
	uniform := ops.RandomUniform(g, "u", graph.F64, graph.Ax("i", 5), graph.Ax("j", 3))
	draws := []*graph.Node{normal, same, uniform}
	p := compile(t, g, tape.Fetch(draws...), tape.Do(graph.Step{g.Assign(n, ops.Shift(n, 1))}))
	seen := map[float64]bool{}
	for _, seed := range []uint64{0, 7} {
		a, b := p.NewVM(tape.NewStore(g, tape.Seed(seed))), p.NewVM(tape.NewStore(g, tape.Seed(seed)))
		for step := range uint64(3) {
			run(t, a, nil)
			run(t, b, nil)
			truth, err := ref.Eval(graph.Env{Seed: seed, Step: step}, nil, draws...)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range draws {
				got := value(t, a, d)
				if !slices.Equal(got, value(t, b, d)) {
					t.Errorf("seed %d, step %d: %v differs between two VMs", seed, step, d)
				}
				if !slices.Equal(got, truth[i].Data) {
					t.Errorf("seed %d, step %d: %v is %v: want %v", seed, step, d, got, truth[i].Data)
				}
				if seen[got[0]] {
					t.Errorf("seed %d, step %d: %v starts with %v, as another draw did", seed, step, d, got[0])
				}
				seen[got[0]] = true
			}
		}
	}
}

// TestDrawsWithoutCommit: what commits nothing is no step, and draws the same again.
func TestDrawsWithoutCommit(t *testing.T) {
	g := graph.New("draws")
	ε := ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 8))
	store := tape.NewStore(g)
	vm := compile(t, g, tape.Fetch(ε)).NewVM(store)
	run(t, vm, nil)
	first := bits(t, vm, ε)
	run(t, vm, nil)
	if !slices.Equal(first, bits(t, vm, ε)) || store.Step() != 0 {
		t.Errorf("two runs without a step draw differently, or count: %d steps", store.Step())
	}
}
