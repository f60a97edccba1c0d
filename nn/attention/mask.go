package attention

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// A mask is an array of booleans that lines up with scores e[… t u] from the
// right and is true where query t may see key u: [t u], [b 1 u] or [b t u]. Where
// a function takes a mask, nil lets every query see every key; two masks are
// joined with ops.And.

// Causal returns the mask [t u] of a decoder: the query at place t sees the keys up to its own
// place, u ≤ t. If both axes have one name t, as in self-attention, that of the keys becomes t′.
func Causal(g *graph.Graph, query, key graph.Axis) *graph.Node {
	if key.Name == query.Name {
		key = build.Keys(key)
	}
	return g.ConstantFunc(graph.Bool, func(sees []float64) {
		for p := range sees {
			if p%key.Size <= p/key.Size {
				sees[p] = 1
			}
		}
	}, query, key).As("causal")
}

// Padding returns the mask [b 1 u] of a batch of sequences of different lengths[b], which are
// numbers: it is true for the first lengths_b keys, and false for the padding after them.
func Padding(lengths *graph.Node, key graph.Axis) *graph.Node {
	return ops.Expand(nn.Present(lengths, key), -2, "").As("padding")
}
