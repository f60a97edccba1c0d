package tape_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
)

// bits are the bit patterns of a node's last value.
func bits(t testing.TB, vm *tape.VM, n *graph.Node) []uint64 {
	t.Helper()
	return patterns(value(t, vm, n))
}

// patterns are the bit patterns of numbers.
func patterns(v []float64) []uint64 {
	out := make([]uint64, len(v))
	for i := range v {
		out[i] = math.Float64bits(v[i])
	}
	return out
}

// TestRunsRepeatBitwise: a program run again with the same random draws, on another VM, or
// compiled again with every node of the graph watched, gives the same bits.
func TestRunsRepeatBitwise(t *testing.T) {
	for seed := range uint64(60) {
		m, wanted := randomModel(t, seed, 20, graph.F32)
		p := compile(t, m.Graph, tape.Fetch(wanted...))
		watched := compile(t, m.Graph, tape.Fetch(wanted...), tape.Watch(m.Graph.Nodes()...))
		feed, store := load(t, m, seed)
		first := tapetest.VM(t, p, store)
		run(t, first, feed)
		want := map[*graph.Node][]uint64{}
		for _, n := range wanted {
			want[n] = bits(t, first, n)
		}
		for name, vm := range map[string]*tape.VM{"again": first, "another VM": tapetest.VM(t, p, store), "all watched": tapetest.VM(t, watched, store)} {
			store.Resume(seed, 0, 0)
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
