package workload

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// attentionStep is a transformer encoder block with layer norm before each half: 4 heads
// over 8 sequences of 64 steps and width 128, then a perceptron with 512 hidden
// units and GELU (its tanh form); the loss is a mean squared error.
func attentionStep(b *builder) (*graph.Node, float64) {
	const sequences, steps, width, heads, inner = 8, 64, 128, 4, 512
	rows, model := graph.Ax("i", sequences*steps), graph.Ax("m", width)
	x, target := b.input("x", 30, rows, model), b.input("target", 31, rows, model)

	n := b.layerNorm("norm1", x)
	head := func(name string, seed uint64, step string) *graph.Node { // [s h t e]
		y := b.dense(name, n, graph.Ax("m′", width), seed, 3)
		y = ops.Split(y, "i", graph.Ax("s", sequences), graph.Ax(step, steps))
		y = ops.Split(y, "m′", graph.Ax("h", heads), graph.Ax("e", width/heads))
		return ops.Transpose(y, "s", "h", step, "e")
	}
	q, k, v := head("q", 32, "t"), head("k", 33, "u"), head("v", 34, "u")
	scores := ops.Scale(ops.MatMul(q, ops.Transpose(k, "s", "h", "e", "u")), 1/math.Sqrt(width/heads))
	α := ops.Softmax(scores, "u").As("α")
	o := ops.Transpose(ops.MatMul(α, v), "s", "t", "h", "e")
	o = ops.Merge(ops.Merge(o, "m′", "h", "e"), "i", "s", "t")
	h := ops.Add(x, b.dense("o", o, model, 35, 3))

	f := ops.GELUTanh(b.dense("up", b.layerNorm("norm2", h), graph.Ax("f", inner), 36, 3))
	y := ops.Add(h, b.dense("down", f, model, 37, 3))
	return squaredError(y, target), 0.1
}
