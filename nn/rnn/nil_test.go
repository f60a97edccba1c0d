package rnn_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/nn/rnn"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"NewConvReader": rnn.NewConvReader, "NewFIR": rnn.NewFIR, "NewGRU": rnn.NewGRU, "NewGates": rnn.NewGates,
			"NewIIR": rnn.NewIIR, "NewLSTM": rnn.NewLSTM, "NewRNN": rnn.NewRNN,
		},
		Types: []any{
			*new(rnn.Bidirectional), *new(rnn.ConvReader), *new(rnn.FIR), *new(rnn.GRU), *new(rnn.Gates), *new(rnn.HorizontalSkip), *new(rnn.IIR),
			*new(rnn.LSTM), *new(rnn.RNN), *new(rnn.Recur), *new(rnn.Seq2Seq), *new(rnn.Stack),
		},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("d", 4))
			return []any{g, x, x.Type(), x.Shape(), graph.F32, []*graph.Node{x}, "d", 2, 0.5}
		},
	})
}
