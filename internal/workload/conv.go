package workload

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// conv is three convolutions of 3×3 with 32, 64 and 64 channels over 32 images of
// 3×32×32, each followed by ReLU and the maximum of squares of 2×2, and a dense
// layer to 10 classes with cross-entropy.
func conv(b *builder) (*graph.Node, float64) {
	const classes = 10
	n := graph.Ax("n", 32)
	h := b.input("x", 40, n, graph.Ax("h", 32), graph.Ax("w", 32), graph.Ax("c", 3))
	label := b.labels("label", 41, classes, n)
	for layer, channels := range []int{32, 64, 64} {
		h = b.conv3x3(fmt.Sprintf("conv%d", layer+1), h, channels, 42+uint64(layer))
		h = ops.MaxPool2D(ops.ReLU(h), ops.Size(2))
	}
	scores := b.dense("scores", ops.Merge(h, "f", "h", "w", "c"), graph.Ax("c", classes), 45, 6)
	return crossEntropy(scores, label), 0.05
}

// conv3x3 is a convolution of x[n h w c] that keeps height and width. The weights
// start in ±√(6/fan in), the bias at zero.
func (b *builder) conv3x3(name string, x *graph.Node, channels int, seed uint64) *graph.Node {
	defer b.Scope(name)()
	in, out := last(x), graph.Ax("c", channels)
	w := b.param("w", seed, math.Sqrt(6/float64(9*in.Size)), graph.Ax("", 3), graph.Ax("", 3), graph.Ax("", in.Size), out)
	return ops.Add(ops.Conv2D(x, w, ops.Padding(1)), b.zeros("b", out))
}
