package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// momentsOverLanes returns the mean and the variance over the given axes, which come first, of the x
// of all lanes of a step, and of how many elements each is; all lanes have the same. The mean is
// there before the squared differences from it are added up, as in [ops.Standardise], so that nothing
// cancels. A lane's term of either is its own mean times its share of the elements, so that no sum
// grows with the batch.
func momentsOverLanes(x *graph.Node, axes []any) (μ, σ2, n *graph.Node) {
	size := 1
	for _, a := range axes {
		size *= x.Dim(a.(int))
	}
	own := x.Graph().Constant(x.DType().Wide(), []float64{float64(size)})
	n = ops.SumRanks(own).As("N")
	share := ops.Cast(ops.Div(own, ops.CopyRanks(n)), x.DType())
	mean := func(x *graph.Node) *graph.Node {
		return ops.SumRanks(ops.Mul(share, ops.Mean(x, axes...)))
	}
	μ = mean(x).As("μ")
	return μ, mean(ops.Square(ops.Sub(x, ops.CopyRanks(μ)))).As("σ²"), n
}

// standardisedOverLanes returns x by the mean and the variance of all lanes' x, the mean, and the
// variance over n−1; that of a single element is 0.
func standardisedOverLanes(x *graph.Node, ε float64, axes []any) (y, μ, unbiased *graph.Node) {
	μ, σ2, n := momentsOverLanes(x, axes)
	besides := ops.Maximum(ops.Shift(n, -1), ops.Lit(n, 1))
	return standardised(x, ops.CopyRanks(μ), ops.CopyRanks(σ2), ε), μ, ops.Mul(σ2, ops.Cast(ops.Div(n, besides), x.DType()))
}
