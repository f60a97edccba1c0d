package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// SquaredNorm returns Σ‖w‖² over all weights, a scalar: the penalty of weight decay, for
//
//	loss + λ·Σ‖w‖²
//
// (the notes on explicit regularisation). Its gradient is the 2λw that weight decay subtracts in
// plain gradient descent. No weights at all are a mistake.
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
