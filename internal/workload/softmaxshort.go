package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// softmaxShort is a softmax over 8 options and a log-softmax over 5 classes for each of n rows: many
// short axes, between layers that cost little.
func softmaxShort(n int) build {
	return func(b *builder) (*graph.Node, float64) {
		const classes = 5
		i := graph.Ax("i", n)
		x, label := b.input("x", 140, i, graph.Ax("f", 4)), b.labels("label", 141, classes, i)
		α := ops.Softmax(b.dense("options", x, graph.Ax("s", 8), 142, 6), "s").As("α")
		return crossEntropy(b.dense("scores", α, graph.Ax("c", classes), 143, 60), label), 1
	}
}
