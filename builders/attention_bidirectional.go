package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
)

// consulting is a recurrent layer that reads both ways, and whose backward states ask the forward
// ones for what concerns them; what comes back joins the input. Without a backward direction the
// forward states ask each other: self-attention of states, with no projections and no scale.
type consulting struct {
	forward  rnn.Recur
	backward *rnn.Recur
	join     nn.Linear // of [x; c]
}

func (l consulting) Of(x *graph.Node) *graph.Node {
	forward := l.forward.Of(x).As("→h")
	asks := forward
	if l.backward != nil {
		other := *l.backward
		other.Reverse = true
		asks = other.Of(x).As("←h")
	}
	c, _ := attention.AttendBidirectional(forward, asks)
	both := ops.Concat(-1, ops.Rename(x, -1, "xc"), ops.Rename(c, -1, "xc")).As("[x; c]")
	return ops.Tanh(l.join.Of(both)).As("H")
}

var bidirectionalAttention = Builder{
	Name:  "attention-bidirectional",
	Title: "attention between the states of a bidirectional RNN",
	Notes: "attention in bidirectional RNNs; self-attention of forward states",
	Formula: "→hₜ = cell(xₜ, →hₜ₋₁);  ←hₜ = cell′(xₜ, ←hₜ₊₁);  aᵢⱼ = ⟨←hᵢ, →hⱼ⟩, or ⟨→hᵢ, →hⱼ⟩;  cᵢ = Σⱼ softmaxⱼ(aᵢⱼ) →hⱼ;  " +
		"Hᵢ = tanh(W[xᵢ; cᵢ] + b);  pᵢ = softmax(V·Hᵢ + d)",
	Hyperparameters: []Hyperparameter{sizeText, sizeLength, sizeVocabulary, sizeInput, sizeState, sizeCell, sizeNormed, sizeRun,
		{Name: "asks", Doc: "the states that ask the forward ones: backward, or forward, which is self-attention", Kind: Choice, Choices: []string{"backward", "forward"}}},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, h := m.Graph, s.ax("h")
		tokens, x := tokensOf(g, s, dt)
		unroll := m.unrolled(s, s.Int("t"))
		joined := graph.Ax("o", h.Size)
		layer := consulting{
			forward: recurOf(g, "forward", dt, s.ax("m"), h, s.Int("cell"), s, unroll),
			join:    nn.NewLinear(g, "join", dt, graph.Ax("xc", s.Int("m")+h.Size), joined),
		}
		if s.Int("asks") == 0 {
			backward := recurOf(g, "backward", dt, s.ax("m"), h, s.Int("cell"), s, unroll)
			layer.backward = &backward
		}
		// The last token, which the first places can only learn of by asking.
		m.labelling(s, dt, joined, layer, tokens, x, func(int) int { return s.Int("t") - 1 })
	},
}
