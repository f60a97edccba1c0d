package rnn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// RNN is the simple recurrent cell, a linear system with hidden states made non-linear (Elman,
// 1990; the notes on RNNs):
//
//	h_t = tanh(W·x_t + U·h_{t−1} + b)
type RNN struct{ Gates }

// NewRNN adds the parameters NAME/in/w[d h], NAME/in/b[h] and NAME/hidden/w[h h].
func NewRNN(g *graph.Graph, name string, dt graph.DType, d, h graph.Axis) RNN {
	return RNN{NewGates(g, name, dt, d, h, 1, false)}
}

// Start returns the state h₀ = 0, [batch h].
func (c RNN) Start(batch ...graph.Axis) []*graph.Node { return c.start(1, batch) }

// Ahead returns W·x + b for x[… d] of all times, and the cell that goes on from there.
func (c RNN) Ahead(x *graph.Node) (*graph.Node, Cell) {
	z, rest := c.ahead(x)
	return z, RNN{rest}
}

// Step returns the next state h[b h] for the input x[b d] and the state h[b h].
func (c RNN) Step(x *graph.Node, state []*graph.Node) []*graph.Node {
	if bad, ok := held("RNN", x, state, 1); !ok {
		return bad
	}
	return []*graph.Node{ops.Tanh(ops.Add(c.ofX(x), c.ofH(state[0]))).As("h")}
}
