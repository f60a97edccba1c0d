package gorgonia_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Compile": gorgonia.Compile, "Do": gorgonia.Do, "Fetch": gorgonia.Fetch, "Supported": gorgonia.Supported,
			"Import": gorgonia.Import, "Params": gorgonia.Params, "Inputs": gorgonia.Inputs, "Evaluating": gorgonia.Evaluating,
			"FilterWeights": gorgonia.FilterWeights, "FlattenedWeights": gorgonia.FlattenedWeights,
			"TransposedWeights": gorgonia.TransposedWeights, "ChannelWeights": gorgonia.ChannelWeights,
			"Floats": gorgonia.Floats, "Mirrored": gorgonia.Mirrored,
		},
		Types: []any{gorgonia.Machine{}, gorgonia.Unsupported{}, gorgonia.Imported{}, gorgonia.NotImported{}, gorgonia.LSTMGates{}},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3))
			store := tape.NewStore(g)
			m, err := gorgonia.Compile(g, gorgonia.Fetch(ops.Sum(x)))
			if err != nil {
				t.Fatal(err)
			}
			theirs := G.NewGraph()
			v := G.NewScalar(theirs, G.Float64, G.WithName("v"), G.WithValue(2.0))
			imported, err := gorgonia.Import(theirs)
			if err != nil {
				t.Fatal(err)
			}
			return []any{theirs, v, G.Value(G.NewF64(2)), G.Nodes{v}, imported, g, store, x, []*graph.Node{x}, m, tape.Feed{x: tape.Tensor(graph.NewValue(x.Type()))}}
		},
	})
}
