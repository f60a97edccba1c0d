package graphnet_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Chebyshev": graphnet.Chebyshev, "Clusters": graphnet.Clusters, "Coarsen": graphnet.Coarsen, "FullyConnected": graphnet.FullyConnected,
			"Matching":    graphnet.Matching,
			"NewDiffPool": graphnet.NewDiffPool, "NewGAT": graphnet.NewGAT, "NewGATHead": graphnet.NewGATHead,
			"NewGCN": graphnet.NewGCN, "NewGraphFilter": graphnet.NewGraphFilter,
			"NewMessagePassing": graphnet.NewMessagePassing, "Normalised": graphnet.Normalised, "Powers": graphnet.Powers,
			"Readout": graphnet.Readout, "ReadoutBlocks": graphnet.ReadoutBlocks,
		},
		Types: []any{
			*new(graphnet.Adjacency), *new(graphnet.Aggregation), *new(graphnet.DiffPool), *new(graphnet.Edges),
			*new(graphnet.GAT), *new(graphnet.GATHead), *new(graphnet.GCN), *new(graphnet.GraphFilter),
			*new(graphnet.MessagePassing),
		},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("d", 4))
			return []any{g, x, x.Type(), x.Shape(), graph.F32, []*graph.Node{x}, "d", 2, 0.5}
		},
	})
}
