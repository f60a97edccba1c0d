package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// SquaredNorm returns Σ‖w‖² over all weights, the penalty that shrinks them (the notes on
// explicit regularisation):
//
//	loss + λ·Σ‖w‖²
//
// Its gradient 2λw is what weight decay subtracts in plain gradient descent.
func SquaredNorm(weights ...*graph.Node) *graph.Node {
	defer graph.Of(weights...).Scope("‖w‖²")()
	if len(weights) == 0 {
		return noArray("SquaredNorm", nil)
	}
	var sum *graph.Node
	for i, w := range weights {
		if of := build.SumSquares(w); i == 0 {
			sum = of
		} else {
			sum = ops.Add(sum, of)
		}
	}
	return sum
}
