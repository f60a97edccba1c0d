package workload

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// lstmSmall is a long short-term memory so small that its loop is all it costs: two layers of 14
// cells over 1024 steps of one sequence. A gate weighs each number by itself, as in ADBench (Šrajer
// et al., 2018): those that forget and let out look at the input, those that let in and change at
// what was let out before. The loss is the cross-entropy of a class at every step.
func lstmSmall(steps, cells, layers int) build {
	return func(b *builder) (*graph.Node, float64) {
		t, j := graph.Ax("t", steps), graph.Ax("j", cells)
		x, label := b.input("x", 90, t, j), b.labels("label", 91, cells, t)
		state := b.input("state", 92, graph.Ax("l", layers), graph.Ax("", 2), j)
		in, out := b.param("in", 93, 1, j), b.param("out", 94, 1, j)
		bias := b.param("bias", 95, 1, j)
		var gates, biases, carry []*graph.Node
		for l := range layers {
			gates = append(gates, b.param(fmt.Sprint("gates", l), 96+2*uint64(l), 1, graph.Ax("g", 4), j))
			biases = append(biases, b.param(fmt.Sprint("biases", l), 97+2*uint64(l), 1, graph.Ax("g", 4), j))
			of := ops.At(state, "l", l)
			carry = append(carry, ops.At(of, 0, 0), ops.At(of, 0, 1)) // h and c
		}
		r := ops.Scan(ops.Loop{Carry: carry, Over: []*graph.Node{x}, Axis: "t"}, func(carry, x, _ []*graph.Node) (next, _ []*graph.Node) {
			input := ops.Mul(x[0], in)
			for l := range layers {
				h, c := carry[2*l], carry[2*l+1]
				gate := func(k int, of *graph.Node) *graph.Node {
					return ops.Add(ops.Mul(of, ops.At(gates[l], "g", k)), ops.At(biases[l], "g", k))
				}
				forget, let := ops.Sigmoid(gate(0, input)), ops.Sigmoid(gate(1, h))
				show, change := ops.Sigmoid(gate(2, input)), ops.Tanh(gate(3, h))
				c = ops.Add(ops.Mul(c, forget), ops.Mul(let, change))
				h = ops.Mul(show, ops.Tanh(c))
				next, input = append(next, h, c), h
			}
			return next, nil
		})
		last := r.Trace[2*(layers-1)]
		return crossEntropy(ops.Add(ops.Mul(last, out), bias), label), 1
	}
}
