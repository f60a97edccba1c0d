package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// mlp is a perceptron 784-512-256-10 with ReLU and cross-entropy, batch 128.
func mlp(b *builder) (*graph.Node, float64) {
	i := graph.Ax("i", 128)
	x := b.input("x", 10, i, graph.Ax("f", 784))
	label := b.labels("label", 11, 10, i)
	h := ops.ReLU(b.dense("first", x, graph.Ax("g", 512), 20, 6))
	h = ops.ReLU(b.dense("second", h, graph.Ax("h", 256), 21, 6))
	return crossEntropy(b.dense("scores", h, graph.Ax("c", 10), 22, 6), label), 0.05
}
