package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// embedding classifies bags of words by the mean of their rows in a table, of which a step sees few.
func embedding(words, width, bags, length int) build {
	return func(b *builder) (*graph.Node, float64) {
		const classes = 10
		i, e := graph.Ax("i", bags), graph.Ax("e", width)
		word := b.labels("word", 130, words, i, graph.Ax("t", length))
		label := b.labels("label", 131, classes, i)
		table := b.param("table", 132, 1, graph.Ax("v", words), e)
		bag := ops.Mean(ops.Gather(table, word, "v"), "t") // [i e]
		return crossEntropy(b.dense("scores", bag, graph.Ax("c", classes), 133, 6), label), 1
	}
}
