package ops_test

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestDrawsAnew: every operation that draws, which one knows by a definition that depends on the
// seed, has in each run what it is defined to have there, and never what it had before. The others
// have the same in every run.
func TestDrawsAnew(t *testing.T) {
	const seed, runs = 11, 4
	draws := map[string]bool{}
	eachCase(t, func(t *testing.T, op ops.Op, b built) {
		defined := func(env trait.Env) []float64 {
			v, err := ref.Eval(env, b.feed, b.y)
			if err != nil {
				t.Fatal(err)
			}
			return v[0].Data
		}
		random := !slices.Equal(defined(trait.Env{Seed: 1}), defined(trait.Env{Seed: 2}))
		if random {
			draws[op.Name()] = true
		}
		for _, options := range [][]tape.Option{nil, {tape.Passes(), tape.Unfused()}, {tape.Fine()}} {
			got, err := reftest.Runs(runs, seed, b.feed, []*graph.Node{b.y}, options...)
			if err != nil {
				t.Fatal(err)
			}
			for k := range got {
				want := defined(trait.Env{Seed: seed, Runs: uint64(k)})
				if err := reftest.Near(got[k][0].Data, want, reftest.Tolerance(b.y.DType())*(1+reftest.Largest(want))); err != nil && random {
					t.Errorf("run %d: %v", k, err)
				}
				for _, before := range got[:k] {
					if same := slices.Equal(got[k][0].Data, before[0].Data); same == random {
						t.Errorf("run %d has the value of an earlier one: %v; the operation draws: %v", k, same, random)
					}
				}
			}
		}
	})
	if !draws["Random"] {
		t.Error("no operation is found to draw")
	}
}
