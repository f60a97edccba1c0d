package rnn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// GRU is the gated recurrent cell, whose hidden values are their own memory (Cho et al., 2014):
//
//	r = σ(W_r·x_t + b_r + U_r·h_{t−1} + c_r),  z = σ(W_z·x_t + b_z + U_z·h_{t−1} + c_z)
//	n = tanh(W_n·x_t + b_n + r ⊙ (U_n·h_{t−1} + c_n)),  h_t = (1 − z) ⊙ n + z ⊙ h_{t−1}
//
// The weights of the gates stand side by side in one array, as in PyTorch in the order r, z, n, and
// the reset gate acts after the product.
type GRU struct{ Gates }

// NewGRU adds the parameters NAME/in/w[d g], NAME/in/b[g], NAME/hidden/w[h g] and
// NAME/hidden/b[g] of three gates.
func NewGRU(g *graph.Graph, name string, dt graph.DType, d, h graph.Axis) GRU {
	return GRU{NewGates(g, name, dt, d, h, 3, true)}
}

// Start returns the state h₀ = 0, [batch h].
func (c GRU) Start(batch ...graph.Axis) []*graph.Node { return c.start(1, batch) }

// Ahead returns W·x + b for x[… d] of all times, and the cell that goes on from there.
func (c GRU) Ahead(x *graph.Node) (*graph.Node, Cell) {
	z, rest := c.ahead(x)
	return z, GRU{rest}
}

// Step returns the next state h[b h] for the input x[b d] and the state h[b h].
func (c GRU) Step(x *graph.Node, state []*graph.Node) []*graph.Node {
	if bad, ok := held("GRU", x, state, 1); !ok {
		return bad
	}
	h := state[0]
	xs, hs := c.ofX(x), c.ofH(h)
	r := ops.Sigmoid(ops.Add(gate(xs, 0, h), gate(hs, 0, h))).As("r")
	z := ops.Sigmoid(ops.Add(gate(xs, 1, h), gate(hs, 1, h))).As("z")
	n := ops.Tanh(ops.Add(gate(xs, 2, h), ops.Mul(r, gate(hs, 2, h)))).As("n")
	return []*graph.Node{ops.Add(ops.Mul(ops.OneMinus(z), n), ops.Mul(z, h)).As("h")}
}
