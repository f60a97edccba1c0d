package grad

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Checkpoint returns f as a function of which only operands and results are kept for the
// derivative: what f computes on the way is computed again when the derivative needs it, once more
// for each order of derivative (Chen et al., Training deep nets with sublinear memory cost, 2016).
// Values are those of f to rounding, with the same random draws: groups of other instructions may sum in
// other blocks, and from a loop in f the compiler moves nothing (package graph/rewrite). A net of n layers in √n such parts takes the memory of about 2√n layers and the time
// of one more pass forward.
//
//	block := grad.Checkpoint(func(x []*graph.Node) []*graph.Node {
//		return []*graph.Node{layer.Of(x[0])}
//	})
//	h = block(h)[0]
//
// f may use nodes of the graph around it, as layers do. It is called as by [ops.Call], and its
// results have any types. For the steps of a loop, see ops.Loop.Checkpoint.
func Checkpoint(f ops.Function) func(x ...*graph.Node) []*graph.Node {
	return func(x ...*graph.Node) []*graph.Node { return ops.Closed("checkpoint", f, x...) }
}
