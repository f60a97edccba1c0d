package build

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Centred takes numbers in [0, 1) to [−1, 1).
func Centred(u *graph.Node) *graph.Node { return ops.Shift(ops.Scale(u, 2), -1) }

// Rows returns the rows of a table that an index says. An index that is none is a mistake of the
// call of what.
func Rows(what string, table, index *graph.Node) *graph.Node {
	defer graph.Of(table, index).Calling(what, table, index)()
	return ops.Gather(table, index, 0)
}

// SumSquares returns ‖x‖² over all elements.
func SumSquares(x *graph.Node) *graph.Node { return ops.Sum(ops.Square(x)) }

// SoftmaxAmong returns the softmax along an axis over the places where a mask that fits
// the scores is true, 0 elsewhere; some says that it is true somewhere in each row.
func SoftmaxAmong(scores, mask *graph.Node, axis int, some bool) *graph.Node {
	α := ops.Softmax(ops.Select(mask, scores, ops.Lit(scores, math.Inf(-1))).As("ẽ"), axis)
	if some {
		return α
	}
	// A row of −∞ alone gives NaN, which Select lets neither out nor, as a
	// derivative, in.
	return ops.Select(mask, α.As("softmax"), ops.Lit(α, 0))
}

// Epsilon is added to variances before their root is taken.
const Epsilon = 1e-5

// Affine returns x·gain + bias, element by element, of those that are there.
func Affine(x, gain, bias *graph.Node) *graph.Node {
	if gain != nil {
		x = ops.Mul(x, gain)
	}
	if bias != nil {
		x = ops.Add(x, bias)
	}
	return x
}

// RootMeanSquare returns √(mean x² + ε) along the last axis, which stays.
func RootMeanSquare(x *graph.Node) *graph.Node {
	return ops.Sqrt(ops.Shift(ops.Mean(ops.Square(x), -1, ops.Keep), Epsilon))
}
