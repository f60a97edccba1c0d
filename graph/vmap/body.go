package vmap

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/derive"
)

func init() { derive.Map = body }

// body is Map as the rule of a loop wants it for the loop's body, which makes no draws.
func body(outs, x, batches []*graph.Node) []*graph.Node {
	over := make([]Over, len(x))
	for i := range x {
		over[i] = Over{x[i], batches[i]}
	}
	return Map(outs, over...)
}
