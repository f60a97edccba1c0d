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
	return overAll("SquaredNorm", "‖w‖²", build.SumSquares, weights)
}

// L1Norm returns Σ|w| over all weights, a scalar: the penalty of the lasso, for
//
//	loss + λ·Σ|w|
//
// Its gradient is the subgradient λ·sign(w), 0 at 0, so that weights under an optimiser jump about
// 0 by the rate; train.L1 adds the same penalty by the proximal step, which ends at 0 exactly. No
// weights at all are a mistake.
func L1Norm(weights ...*graph.Node) *graph.Node {
	return overAll("L1Norm", "‖w‖₁", func(w *graph.Node) *graph.Node { return ops.Sum(ops.Abs(w)) }, weights)
}

// overAll returns the sum of a scalar of each of the weights, in a scope of its own.
func overAll(what, scope string, of func(w *graph.Node) *graph.Node, weights []*graph.Node) *graph.Node {
	defer graph.Of(weights...).Scope(scope)()
	if len(weights) == 0 {
		return noArray(what, nil)
	}
	var sum *graph.Node
	for i, w := range weights {
		if n := of(w); i == 0 {
			sum = n
		} else {
			sum = ops.Add(sum, n)
		}
	}
	return sum
}
