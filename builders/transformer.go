package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// LanguageModel is the decoder of a transformer without an encoder (the notes on GPTs; Radford et
// al., 2018): every place sees the tokens up to its own and predicts the next.
type LanguageModel struct {
	Tokens nn.Embedding
	Places *graph.Node       // p[t m], p[t n] or the times of a rotary stack; see NewLanguageModel
	Stack  attention.Encoder // its blocks get a causal mask
	Output nn.Linear         // the final linear layer, w[m w]
}

// NewLanguageModel adds the parameters of "embedding", "decoder" and "output", for tokens below the
// size of the vocabulary axis. The rank and width of places say how they are used:
//
//   - p[t m], from [attention.NewPositions] or [attention.Sinusoidal], is added to the tokens'
//     vectors.
//   - p[t n] with n < m stands beside them, and the tokens have vectors of m − n features.
//   - The times t[t] alone change no vector; they are for blocks that are Rotary, whose attention
//     rotates queries and keys by them.
func NewLanguageModel(g *graph.Graph, dt graph.DType, b attention.Blocks, vocabulary graph.Axis, places *graph.Node) LanguageModel {
	return LanguageModel{
		Tokens: nn.NewEmbedding(g, "embedding", dt, vocabulary, besides(b.Width, places)), Places: places,
		Stack:  attention.NewEncoder(g, "decoder", dt, b),
		Output: nn.NewLinear(g, "output", dt, b.Width, vocabulary),
	}
}

// Of returns, for tokens[b t], the logits[b t w] of the next token at each place.
func (l LanguageModel) Of(tokens *graph.Node) *graph.Node {
	x := embedded(l.Tokens, l.Places, tokens, l.Output)
	return l.Output.Of(l.Stack.Of(x, causalFor(tokens))).As("logits")
}

// besides returns the axis of tokens' vectors that leave room for p[t n] in the width m of a stack:
// m itself where the places are added, or change no vector.
func besides(m graph.Axis, p *graph.Node) graph.Axis {
	if p.IsValid() && p.Rank() == 2 && build.Last(p).Size < m.Size {
		m.Size -= build.Last(p).Size
	}
	return m
}

// embedded returns the vectors of tokens[b t] with their places, in the width that output reads.
func embedded(e nn.Embedding, places, tokens *graph.Node, output nn.Linear) *graph.Node {
	return withPlaces(e.Of(tokens), places, output)
}

// withPlaces returns vectors x[b t …] with their places p[t m] added, with p[t n] beside them, or, for
// the times alone, x itself.
func withPlaces(x, p *graph.Node, output nn.Linear) *graph.Node {
	switch {
	case p.IsValid() && p.Rank() == 1:
		return x.As("x")
	case x.IsValid() && output.W.IsValid() && build.Last(x).Size < output.W.Dim(0):
		return attention.ConcatPositions(x, p, output.W.Shape().Axis(0).Name).As("x")
	}
	return attention.AddPositions(x, p).As("x")
}

// causalFor returns the causal mask of self-attention over tokens[b t].
func causalFor(tokens *graph.Node) *graph.Node {
	t := build.Last(tokens)
	return attention.Causal(graph.Of(tokens), t, t)
}

// MaskedModel is the encoder of a transformer that predicts hidden tokens (BERT; Devlin et al.,
// 2019; the notes on masked reconstruction).
type MaskedModel struct {
	Tokens nn.Embedding // one row more than there are tokens: the hidden token's
	Places *graph.Node  // as of a [LanguageModel]
	Stack  attention.Encoder
	Output nn.Linear
}

// NewMaskedModel adds the parameters of "embedding", "encoder" and "output", with places as
// [NewLanguageModel] takes them.
func NewMaskedModel(g *graph.Graph, dt graph.DType, b attention.Blocks, vocabulary graph.Axis, places *graph.Node) MaskedModel {
	return MaskedModel{
		Tokens: nn.NewEmbedding(g, "embedding", dt, withOneMore(vocabulary), besides(b.Width, places)), Places: places,
		Stack:  attention.NewEncoder(g, "encoder", dt, b),
		Output: nn.NewLinear(g, "output", dt, b.Width, vocabulary),
	}
}

// withOneMore returns a vocabulary with a token of the model's own behind it: hidden, or start.
func withOneMore(vocabulary graph.Axis) graph.Axis {
	return graph.Ax(vocabulary.Name+"′", vocabulary.Size+1)
}

// Of returns the logits[b t w] of the tokens at all places of tokens[b t], without looking at those
// where the mask hidden[b t] is true.
func (l MaskedModel) Of(tokens, hidden *graph.Node) *graph.Node {
	seen := ops.Select(hidden, ops.Lit(tokens, float64(build.Last(l.Output.W).Size)), tokens).As("seen tokens")
	return l.Output.Of(l.Stack.Of(embedded(l.Tokens, l.Places, seen, l.Output), nil)).As("logits")
}

// Transformer is the encoder and decoder of Vaswani et al. (2017): the decoder writes the target
// token by token, and reads the encoder's output for the source.
type Transformer struct {
	Source, Target nn.Embedding // the target's has one row more: the start token's
	Read, Written  *graph.Node  // places of source and target, as of a [LanguageModel]
	Encoder        attention.Encoder
	Decoder        attention.Decoder
	Levels         bool // block i of the decoder reads the encoder's block i, not its last
	Output         nn.Linear
}

// NewTransformer adds the parameters of "source-embedding", "target-embedding", "encoder",
// "decoder" and "output", with places as [NewLanguageModel] takes them. Rotary blocks rotate by the
// places in the attention of source to source and of target to target.
func NewTransformer(g *graph.Graph, dt graph.DType, b attention.Blocks, vocabulary graph.Axis, read, written *graph.Node) Transformer {
	return Transformer{
		Source: nn.NewEmbedding(g, "source-embedding", dt, vocabulary, besides(b.Width, read)),
		Target: nn.NewEmbedding(g, "target-embedding", dt, withOneMore(vocabulary), besides(b.Width, written)),
		Read:   read, Written: written,
		Encoder: attention.NewEncoder(g, "encoder", dt, b), Decoder: attention.NewDecoder(g, "decoder", dt, b, b.Width),
		Output: nn.NewLinear(g, "output", dt, b.Width, vocabulary),
	}
}

// Of returns the logits[b t w] of the target's tokens at each place, for a source[b s] and the
// right target[b t] (teacher forcing): place t sees the source and the target's tokens before t, a
// start token first.
func (m Transformer) Of(source, target *graph.Node) *graph.Node {
	memory := m.memory(source)
	before := build.Shifted(target, float64(build.Last(m.Output.W).Size))
	y := m.Decoder.Of(embedded(m.Target, m.Written, before, m.Output), memory, causalFor(target), nil)
	return m.Output.Of(y).As("logits")
}

// memory returns the memories that the decoder's blocks read, for a source[b s].
func (m Transformer) memory(source *graph.Node) []*graph.Node {
	levels := m.Encoder.Levels(embedded(m.Source, m.Read, source, m.Output), nil)
	if m.Levels {
		return levels
	}
	return levels[len(levels)-1:]
}
