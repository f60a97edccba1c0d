package layertest

import (
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
)

// Values computes nodes by the definitions.
func Values(t *testing.T, feed graph.Values, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	return At(t, 0, feed, nodes...)
}

// At computes nodes by the definitions, with the draws of a step.
func At(t *testing.T, step uint64, feed graph.Values, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	if err := graph.Of(nodes...).Err(); err != nil {
		t.Fatal(err)
	}
	out, err := ref.Eval(trait.Env{Seed: Seed, Step: step}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Seed is that of the draws, by the definitions and on the tape.
const Seed = 5

// Both computes nodes by the definitions, and checks that the tape gives the same.
func Both(t *testing.T, feed graph.Values, tol float64, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	want := Values(t, feed, nodes...)
	got, err := reftest.Tape(Seed, feed, nodes)
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		if err := reftest.Near(got[i].Data, want[i].Data, tol*max(1, reftest.Largest(want[i].Data))); err != nil {
			t.Errorf("the tape: %v: %v", nodes[i], err)
		}
	}
	return want
}

// BothWays is like [Both] where leaves that are not fed get normal numbers, and inputs
// with a default that.
func BothWays(t *testing.T, feed graph.Values, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	full := graph.Values{}
	for _, n := range graph.Of(nodes...).Leaves(graph.RoleInput, graph.RoleParam) {
		v := Random(rng, n.Type(), 1) // drawn in any case: a feed changes nothing else
		if given, ok := feed[n]; ok {
			full[n] = given
		} else if _, has := n.Default(); !has {
			full[n] = v
		}
	}
	return Both(t, full, 1e-11, nodes...)
}

// Same compares values with what they should be.
func Same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if err := reftest.Near(got, want, 1e-12*max(1, reftest.Largest(want))); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}
