package rnn_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// TestAttentionOverBothWays: with every score the decoder looks at states of a bidirectional
// RNN, and the model learns.
func TestAttentionOverBothWays(t *testing.T) {
	for score := range 3 {
		m, err := builders.Build("seq2seq-attention", builders.Settings{"score": float64(score), "bidirectional": 1, "h": 6}, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		losses := layertest.NewTrainer(t, m, train.Adam(0.01), 1).Learn(200)
		if first, last := layertest.Average(losses[:20]), layertest.Average(losses[180:]); !(last < 0.7*first) {
			t.Errorf("score %d: the loss goes from %v to %v", score, first, last)
		}
		for _, p := range []string{"encoder/forward/hidden/w", "encoder/backward/hidden/w"} {
			if m.Graph.Lookup(p) == nil {
				t.Errorf("score %d: no parameter %s", score, p)
			}
		}
	}
}

// TestStatesOfBothWays: what the decoder finds at the first place depends on the last one
// where the encoder reads both ways, and exactly not where it reads forward alone.
func TestStatesOfBothWays(t *testing.T) {
	const n, d, h = 4, 3, 2
	for _, both := range []bool{false, true} {
		g := graph.New("states")
		x := g.Input("x", graph.F64, graph.Ax("b", 1), graph.Ax("s", n), graph.Ax("m", d))
		cell := func(name string) rnn.Recur {
			return rnn.Recur{Name: name, Cell: rnn.NewGRU(g, name, graph.F64, graph.Ax("m", d), graph.Ax("h", h))}
		}
		forward := cell("forward")
		var reader rnn.Reader = forward
		if both {
			reader = rnn.Bidirectional{Forward: forward, Backward: cell("backward")}
		}
		states, _ := reader.Read(x)
		state := g.Input("state", graph.F64, graph.Ax("b", 1), states.Shape().Axis(2))
		a, _ := attention.AttendStates(attention.DotScore{}, state, ops.Slice(states, "s", 0, 1), nil)
		slopes := layertest.BothWays(t, nil, grad.Of(layertest.Wavy(a), x)[0])[0].Data
		for p, v := range slopes {
			if place := p / d; (v != 0) != (both || place == 0) {
				t.Errorf("both ways %v: the first state's derivative by place %d is %v", both, place, v)
			}
		}
	}
}
