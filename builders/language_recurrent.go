package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
)

// RecurrentLanguageModel predicts the next token from the state of its recurrent layers (the notes
// on RNNs; Mikolov et al., 2010):
//
//	x_t = table[w_t],  h_t = layers(x_t, h_{t−1}),  p(w_{t+1}) = softmax(h_t·W + b)
//
// It is a struct of its parts; see [CharacterLSTM].
type RecurrentLanguageModel struct {
	Tokens nn.Embedding
	Layers []rnn.Recur // the first reads the tokens' vectors, each other the layer before
	Output nn.Linear   // w[h w]
}

// Of returns, for tokens[b t], the logits[b t w] of the next token at each place.
func (l RecurrentLanguageModel) Of(tokens *graph.Node) *graph.Node {
	x := l.Tokens.Of(tokens)
	for _, r := range l.Layers {
		x = r.Of(x)
	}
	return l.Output.Of(x).As("logits")
}

// Next reads one token of each text per run. For token[b] it returns the logits[b w] that Of
// returns at its place, if earlier runs have read the tokens before it; see [rnn.Recur.Next].
func (l RecurrentLanguageModel) Next(token, fresh *graph.Node) (logits *graph.Node, step graph.Step) {
	x := l.Tokens.Of(token)
	for _, r := range l.Layers {
		h, s := r.Next(x, fresh)
		x, step = h, append(step, s...)
	}
	return l.Output.Of(x).As("logits"), step
}

// Window returns 0: there is no limit to how far the model looks back.
func (RecurrentLanguageModel) Window() int { return 0 }
