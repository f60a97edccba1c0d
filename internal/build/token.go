package build

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Begins returns the mask of a scalar that is not 0 where a text begins.
func Begins(fresh *graph.Node) *graph.Node {
	if fresh.IsValid() && fresh.Rank() > 0 {
		return fresh.Graph().Fail("fresh", &graph.Mistake{Problem: fmt.Sprintf("it has shape %v", fresh.Shape()), Fix: "want a scalar, of which 1 begins new texts"}, fresh)
	}
	return ops.NotEqual(fresh, ops.Lit(fresh, 0))
}

// Shifted returns tokens[b t] one place later, with a start token first.
func Shifted(tokens *graph.Node, start float64) *graph.Node {
	if !tokens.IsValid() || tokens.Rank() == 0 {
		return ops.Slice(tokens, -1, 0, 1)
	}
	first := ops.Slice(tokens, -1, 0, 1)
	begin := ops.BroadcastTo(ops.Lit(tokens, start), first.Shape())
	if Last(tokens).Size == 1 {
		return begin.As("before")
	}
	return ops.Concat(-1, begin, ops.Slice(tokens, -1, 0, -1)).As("before")
}
