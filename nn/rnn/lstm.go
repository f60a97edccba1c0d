package rnn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// LSTM is the cell with a memory (Hochreiter & Schmidhuber, 1997; with the forget gate of Gers et
// al., 2000; the notes on the memory cell): a horizontal path c, along which gradients flow back
// undiminished as long as the forget gate is open, and which the cell learns to block.
//
//	i = σ(W_i·x_t + U_i·h_{t−1} + b_i),  f = σ(W_f·x_t + U_f·h_{t−1} + b_f)
//	o = σ(W_o·x_t + U_o·h_{t−1} + b_o),  c̃ = tanh(W_c·x_t + U_c·h_{t−1} + b_c)
//	c_t = f ⊙ c_{t−1} + i ⊙ c̃,  h_t = o ⊙ tanh(c_t)
//
// The weights of the gates stand side by side in one array, as in PyTorch in the order i, f, c̃, o.
// The state is h, c.
type LSTM struct{ Gates }

// NewLSTM adds the parameters NAME/in/w[d g], NAME/in/b[g] and NAME/hidden/w[h g] of
// four gates.
func NewLSTM(g *graph.Graph, name string, dt graph.DType, d, h graph.Axis) LSTM {
	return LSTM{NewGates(g, name, dt, d, h, 4, false)}
}

// Start returns the state h₀ = 0, c₀ = 0, each [batch h].
func (c LSTM) Start(batch ...graph.Axis) []*graph.Node { return c.start(2, batch) }

// Ahead returns W·x + b for x[… d] of all times, and the cell that goes on from there.
func (c LSTM) Ahead(x *graph.Node) (*graph.Node, Cell) {
	z, rest := c.ahead(x)
	return z, LSTM{rest}
}

// Step returns the next state h[b h], c[b h] for the input x[b d] and the state h[b h], c[b h].
func (c LSTM) Step(x *graph.Node, state []*graph.Node) []*graph.Node {
	if bad, ok := held("LSTM", x, state, 2); !ok {
		return bad
	}
	h, memory := state[0], state[1]
	z := ops.Add(c.ofX(x), c.ofH(h)).As("z")
	i, f, o := ops.Sigmoid(gate(z, 0, h)).As("i"), ops.Sigmoid(gate(z, 1, h)).As("f"), ops.Sigmoid(gate(z, 3, h)).As("o")
	candidate := ops.Tanh(gate(z, 2, h)).As("c̃")
	memory = ops.Add(ops.Mul(f, memory), ops.Mul(i, candidate)).As("c")
	return []*graph.Node{ops.Mul(o, ops.Tanh(memory)).As("h"), memory}
}
