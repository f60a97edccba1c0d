package randgraph_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

const graphs = 300

// build stands alone so that every graph is made at one line, which the text form shows.
func build(seed uint64, dt graph.DType) *randgraph.Model {
	return randgraph.New(seed, 5+int(seed%20), dt)
}

func each(t *testing.T, f func(t *testing.T, seed uint64, m *randgraph.Model)) {
	t.Helper()
	for seed := range uint64(graphs) {
		dt := []graph.DType{graph.F32, graph.F64}[seed%2]
		m := build(seed, dt)
		if err := m.Graph.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, m.Graph)
		}
		f(t, seed, m)
	}
}

func TestGraphsAreSound(t *testing.T) {
	each(t, func(t *testing.T, seed uint64, m *randgraph.Model) {
		if err := graph.Verify(m.Graph); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if m.Loss.Rank() != 0 {
			t.Errorf("seed %d: the loss has type %v", seed, m.Loss.Type())
		}
		for _, n := range m.Graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
			if len(m.Values[n].Data) != n.Shape().Len() {
				t.Errorf("seed %d: %v has no value", seed, n)
			}
		}
	})
}

func TestEqualSeedsGiveEqualGraphs(t *testing.T) {
	each(t, func(t *testing.T, seed uint64, m *randgraph.Model) {
		again := build(seed, m.Loss.DType())
		if a, b := m.Graph.String(), again.Graph.String(); a != b {
			t.Errorf("seed %d gives two graphs:\n%s\n%s", seed, a, b)
		}
	})
}

// TestValuesStaySmall holds what tolerances elsewhere rely on: values within a
// small range, and derivatives that do not grow without bound.
func TestValuesStaySmall(t *testing.T) {
	each(t, func(t *testing.T, seed uint64, m *randgraph.Model) {
		grads := grad.Of(m.Loss, m.Params...)
		if err := m.Graph.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, m.Graph)
		}
		nodes := append(slices.Clone(m.Graph.Nodes()), grads...)
		values, err := ref.Eval(trait.Env{Seed: seed}, graph.Values(m.Values), nodes...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, n := range nodes {
			limit := 3.0
			if n.Name() == "" {
				limit = 2 * 600 // on the way: a sum that is scaled afterwards
			}
			if _, number := match.Literal(n); number || !n.DType().IsFloat() {
				continue
			}
			for _, v := range values[i].Data {
				if math.IsNaN(v) || math.Abs(v) > limit {
					t.Fatalf("seed %d: %v is %v", seed, n, v)
				}
			}
		}
		for i, d := range values[len(values)-len(grads):] {
			if !slices.ContainsFunc(d.Data, func(v float64) bool { return v != 0 }) {
				t.Errorf("seed %d: the loss does not feel %v", seed, m.Params[i])
			}
		}
	})
}

// TestEveryOperationAppears fails when package ops grows and this package does
// not: derivatives count, they run through the same passes.
func TestEveryOperationAppears(t *testing.T) {
	seen := map[string]int{}
	each(t, func(t *testing.T, seed uint64, m *randgraph.Model) {
		for i, d := range grad.Of(m.Loss, m.Params...) {
			if seed%5 == 0 { // some operations are derivatives of derivatives
				grad.OrZero(ops.Sum(ops.Square(d)), m.Params[i])
			}
		}
		for _, n := range m.Graph.Nodes() {
			seen[n.Op().Name()]++
		}
	})
	var missing []string
	for _, op := range ops.List() {
		switch op.Name() {
		case "InRange", // which vmap alone makes
			"CopyRanks", "SumRanks", // whose random graphs are those of several lanes, in graph/rewrite
			"Eigh", "SVD": // which have no second derivative at the spectra that small graphs often have
			continue
		}
		if seen[op.Name()] < 3 {
			missing = append(missing, fmt.Sprintf("%s (%d times)", op.Name(), seen[op.Name()]))
		}
	}
	if len(missing) > 0 {
		t.Errorf("%d graphs lack %v", graphs, missing)
	}
}
