package vmap

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/derive"
)

func init() { derive.Map = body }

// body is Map, or MapSameDraws, as the rule of a loop wants it for the loop's body.
func body(outs, x, batches []*graph.Node, draws bool) []*graph.Node {
	over := make([]Over, len(x))
	for i := range x {
		over[i] = Over{x[i], batches[i]}
	}
	return mapped(outs, over, draws)
}
