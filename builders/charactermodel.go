package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
)

// CharacterGPT adds a small [LanguageModel] for the characters of a text, in windows of the axis t:
// two blocks of 64 features with 4 heads and 256 hidden units, norms before the layers, GELU,
// biases everywhere and learnt positions.
func CharacterGPT(g *graph.Graph, dt graph.DType, vocabulary, t graph.Axis) LanguageModel {
	b := attention.Blocks{
		Layers: 2, Heads: 4, Width: graph.Ax("m", 64), Hidden: graph.Ax("f", 256),
		Bias: true, Activation: ops.GELU,
	}
	return NewLanguageModel(g, dt, b, vocabulary, attention.NewPositions(g, "places", dt, t, b.Width))
}

// CharacterLSTM adds a small [RecurrentLanguageModel] for the characters of a text: an
// [rnn.LSTM] of 128 hidden values over vectors of 64 features.
func CharacterLSTM(g *graph.Graph, dt graph.DType, vocabulary graph.Axis) RecurrentLanguageModel {
	m, h := graph.Ax("m", 64), graph.Ax("h", 128)
	return RecurrentLanguageModel{
		Tokens: nn.NewEmbedding(g, "embedding", dt, vocabulary, m),
		Layers: []rnn.Recur{{Name: "lstm", Cell: rnn.NewLSTM(g, "lstm", dt, m, h)}},
		Output: nn.NewLinear(g, "output", dt, h, vocabulary),
	}
}
