package ref_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// A cell makes the next state, the hidden values first, of the input's share xw
// and the hidden values' share hw of the gates, each [batch gates·hidden].
type cell func(xw, hw node, state []node) []node

// gates cuts n equal parts from the last axis.
func gates(x node, n int) []node {
	out := make([]node, n)
	size := x.Dim(1) / n
	for i := range out {
		out[i] = ops.Slice(x, 1, i*size, (i+1)*size)
	}
	return out
}

func rnn(xw, hw node, _ []node) []node { return []node{ops.Tanh(ops.Add(xw, hw))} }

func lstm(xw, hw node, state []node) []node {
	p := gates(ops.Add(xw, hw), 4)
	i, f, g, o := ops.Sigmoid(p[0]), ops.Sigmoid(p[1]), ops.Tanh(p[2]), ops.Sigmoid(p[3])
	c := ops.Add(ops.Mul(f, state[1]), ops.Mul(i, g))
	return []node{ops.Mul(o, ops.Tanh(c)), c}
}

func gru(xw, hw node, state []node) []node {
	x, h := gates(xw, 3), gates(hw, 3)
	r, z := ops.Sigmoid(ops.Add(x[0], h[0])), ops.Sigmoid(ops.Add(x[1], h[1]))
	n := ops.Tanh(ops.Add(x[2], ops.Mul(r, h[2])))
	return []node{ops.Add(ops.Mul(ops.OneMinus(z), n), ops.Mul(z, state[0]))}
}

// recurrent unrolls a cell over time, once for each direction's suffix; the
// results stand side by side.
func (b *builder) recurrent(states int, f cell, suffixes ...string) outputs {
	x := b.array("x")
	batch, steps := x.Dim(0), x.Dim(1)
	hidden := int(b.number("hidden", 0))
	var sides []node
	for side, suffix := range suffixes {
		w := func(name string) node { return b.array(name + "_l0" + suffix) }
		zero := b.g.Constant(b.dt, make([]float64, batch*hidden), graph.Dims(batch, hidden)...)
		state := make([]node, states)
		for i := range state {
			state[i] = zero
		}
		out := make([]node, steps)
		for k := range steps {
			t := k
			if side == 1 {
				t = steps - 1 - k
			}
			xt := ops.Squeeze(ops.Slice(x, 1, t, t+1), 1)
			state = f(linear(xt, w("weight_ih"), w("bias_ih")), linear(state[0], w("weight_hh"), w("bias_hh")), state)
			out[t] = ops.Expand(state[0], 1, "")
		}
		sides = append(sides, ops.Concat(1, out...))
	}
	return b.weighted(ops.Concat(2, sides...))
}
