package vmap_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Each": vmap.Each, "Map": vmap.Map, "MapSameDraws": vmap.MapSameDraws,
			"RuleOf": vmap.RuleOf,
		},
		Types: []any{},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("n", 2))
			return []any{x, ops.Add(x, x).Op(), []*graph.Node{x}, "n", graph.Ax("r", 2)}
		},
	})
}
