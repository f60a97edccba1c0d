package workload

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// lstm is a long short-term memory of 256 cells over 64 steps of 32 sequences of
// width 128, unrolled (Hochreiter & Schmidhuber, 1997; with the forget gate of Gers
// et al., 2000); the loss is the mean squared error of the last output. The gates
// lie in the order input, forget, candidate, output.
func lstm(b *builder) (*graph.Node, float64) {
	const sequences, steps, width, cells = 32, 64, 128, 256
	s, step, cell := graph.Ax("s", sequences), graph.Ax("t", steps), graph.Ax("j", cells)
	x := b.input("x", 50, step, s, graph.Ax("d", width))
	target := b.input("target", 51, s, cell)

	// What the inputs contribute does not wait for the recurrence.
	z := b.dense("in", ops.Merge(x, "i", "t", "s"), graph.Ax("g", 4*cells), 52, 3)
	z = ops.Split(z, "i", step, s)
	u := b.param("recurrent", 53, math.Sqrt(3.0/cells), cell, graph.Ax("g", 4*cells))
	h := b.Constant(b.dt, make([]float64, sequences*cells), s, cell)
	c := h
	for t := range steps {
		now := ops.Add(ops.Squeeze(ops.Slice(z, "t", t, t+1), "t"), ops.MatMul(h, u))
		gate := func(k int) *graph.Node { return ops.Rename(ops.Slice(now, "g", k*cells, (k+1)*cells), "g", "j") }
		c = ops.Add(ops.Mul(ops.Sigmoid(gate(1)), c), ops.Mul(ops.Sigmoid(gate(0)), ops.Tanh(gate(2))))
		h = ops.Mul(ops.Sigmoid(gate(3)), ops.Tanh(c))
	}
	return squaredError(h, target), 10
}
