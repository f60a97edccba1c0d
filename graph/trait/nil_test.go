package trait_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Blames": trait.Blames, "ByMagnitude": trait.ByMagnitude,
			"CheckIndex": trait.CheckIndex, "NewIndexError": trait.NewIndexError,
			"IsElementwise": trait.IsElementwise, "LoopBody": trait.LoopBody, "Limit": trait.Limit, "Number": trait.Number,
			"PartOf": trait.PartOf, "Rough": trait.Rough,
		},
		Types:   []any{trait.IndexError{}, trait.Loop{}},
		Skipped: map[string]string{"NewIndexError": "is of an Indexing alone, as its doc says: who runs one calls it"},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("m", 3))
			return []any{ops.Add(x, x).Op(), trait.Zero, 1., graph.F32}
		},
	})
}
