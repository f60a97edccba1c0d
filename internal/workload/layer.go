package workload

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// last is the last axis of x.
func last(x *graph.Node) graph.Axis { return x.Shape().Axis(x.Rank() - 1) }

// dense is x·w + bias over the last axis of x[i f], which becomes the axis out. The
// weights start in ±√(gain/fan in), the bias at zero.
func (b *builder) dense(name string, x *graph.Node, out graph.Axis, seed uint64, gain float64) *graph.Node {
	defer b.Scope(name)()
	in := last(x)
	w := b.param("w", seed, math.Sqrt(gain/float64(in.Size)), in, out)
	return ops.Add(ops.MatMul(x, w), b.zeros("b", out))
}

// layerNorm gives the last axis of x mean 0 and variance 1, then scales and shifts
// each of its features.
func (b *builder) layerNorm(name string, x *graph.Node) *graph.Node {
	defer b.Scope(name)()
	f := last(x)
	gain := b.Param("gain", b.dt, f)
	b.start(gain, func() []float64 { return ones(f.Size) })
	return ops.Add(ops.Mul(ops.Standardise(x, 1e-5, f.Name), gain), b.zeros("bias", f))
}

// crossEntropy is the mean over i of −log softmax of the scores[i c] at the label of i.
func crossEntropy(scores, label *graph.Node) *graph.Node {
	hot := ops.OneHot(label, -1, last(scores), scores.DType())
	return ops.Neg(ops.Mean(ops.Sum(ops.Mul(hot, ops.LogSoftmax(scores, -1)), -1))).As("loss")
}

// squaredError is the mean of (y − target)².
func squaredError(y, target *graph.Node) *graph.Node {
	return ops.Mean(ops.Square(ops.Sub(y, target))).As("loss")
}
