package builders

import (
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// transformers: attention and little else.
var transformers = []Builder{
	transformerEncoder, transformerDecoder,
	encoderDecoder("transformer-seq2seq", "transformer: encoder and decoder", "the transformer: encoder, decoder, masked decoder input, final linear and softmax layer", 1, 0),
	encoderDecoder("transformer-unet", "transformer whose decoder reads middle layers", "inputs of the decoder's attention layers, in the style of a U-net", 2, 1),
	transformerGPT, transformerBERT,
}

var (
	sizeLayers     = Hyperparameter{Name: "layers", Default: 1, Doc: "blocks on each other", Kind: Count}
	sizeHidden     = Hyperparameter{Name: "f", Default: 16, Doc: "hidden units of the feed-forward layers", Kind: Count}
	sizeNorm       = Hyperparameter{Name: "norm", Doc: "where the norms stand: before a layer, or after the sum", Kind: Choice, Choices: []string{"pre", "post"}}
	sizeActivation = Hyperparameter{Name: "activation", Default: 1, Doc: "non-linearity of the feed-forward layers", Kind: Choice, Choices: []string{"relu", "gelu"}}
	sizeShared     = Hyperparameter{Name: "shared", Doc: "the same weights in all blocks", Kind: Flag}
	sizeQueries    = Hyperparameter{Name: "queries", Doc: "as they are, or scaled to one size", Kind: Choice, Choices: []string{"plain", "scaled"}}
	sizeKeys       = Hyperparameter{Name: "keys", Doc: "as they are, or scaled to one size, so that none can answer with less strength", Kind: Choice, Choices: []string{"plain", "scaled"}}
	sizeVocabulary = Hyperparameter{Name: "w", Default: 5, Doc: "tokens of the vocabulary", Kind: Count}
	sizePositions  = Hyperparameter{Name: "positions", Doc: "encoding of the places: added to the tokens' vectors, beside them, or as rotations of queries and keys", Kind: Choice, Choices: []string{"sinusoidal", "learned", "concatenated", "rotary"}}
)

// blocks returns the blocks that the settings describe.
func (m *Model) blocks(s Settings) attention.Blocks {
	b := attention.Blocks{
		Layers: m.atMost("layers", s.Int("layers"), mostLayers), Heads: s.Int("heads"), Width: s.ax("m"), Hidden: s.ax("f"),
		Post: s.Int("norm") == 1, Shared: s.Is("shared"), QueryNorm: s.Int("queries") == 1, KeyNorm: s.Int("keys") == 1,
		Rotary: s.Int("positions") == positionsRotary,
	}
	if s.Int("activation") == 1 {
		b.Activation = ops.GELU
	}
	return b
}

// The places of the choices of sizePositions, beside the sinusoidal ones, which are added.
const (
	positionsLearned = iota + 1
	positionsConcatenated
	positionsRotary
)

// places returns the encoding of the places along an axis that the settings ask for, as
// [NewLanguageModel] takes it. Concatenated places have half the features of the stack.
func (s Settings) places(g *graph.Graph, name string, dt graph.DType, t graph.Axis) *graph.Node {
	defer g.Scope(name)()
	m := s.ax("m")
	switch s.Int("positions") {
	case positionsLearned:
		return attention.NewPositions(g, "p", dt, t, m)
	case positionsConcatenated:
		if m.Size < 2 {
			return g.Fail("positions", fmt.Errorf("%d feature for a token and its place side by side: want at least 2", m.Size))
		}
		m.Size /= 2
	case positionsRotary:
		return build.Counting(g, dt, t)
	}
	return attention.Sinusoidal(g, dt, t, m)
}

var transformerEncoder = Builder{
	Name:            "transformer-encoder",
	Title:           "encoder of a transformer",
	Notes:           "the transformer in detail: the encoder, layer normalisation",
	Formula:         "x ← x + attention(norm(x));  x ← x + W₂φ(W₁norm(x))",
	Hyperparameters: []Hyperparameter{sizeBatch, sizeLength, sizeWidth, sizeHeads, sizeHidden, sizeLayers, sizeNorm, sizeActivation, sizeShared, sizeQueries, sizeKeys, sizeMask},
	make: func(s Settings, dt graph.DType, m *Model) {
		m.denoise(s, dt, func(x, mask *graph.Node) *graph.Node {
			e := attention.NewEncoder(m.Graph, "encoder", dt, m.blocks(s))
			read := nn.NewLinear(m.Graph, "read", dt, s.ax("m"), graph.Ax("o", s.Int("m")))
			return read.Of(e.Of(x, mask))
		})
	},
}

var transformerDecoder = Builder{
	Name:            "transformer-decoder",
	Title:           "decoder of a transformer",
	Notes:           "the transformer in detail: the decoder side, the masked decoder input",
	Formula:         "x ← x + attention(norm(x), causal);  x ← x + attention(norm(x), memory);  x ← x + W₂φ(W₁norm(x))",
	Hyperparameters: []Hyperparameter{sizeBatch, sizeLength, sizeMemory, sizeWidth, sizeHeads, sizeHidden, sizeLayers, sizeNorm, sizeActivation, sizeShared, sizeQueries, sizeKeys},
	make: func(s Settings, dt graph.DType, m *Model) {
		g := m.Graph
		x, memory := g.Input("x", dt, s.ax("b"), s.ax("t"), s.ax("m")), g.Input("memory", dt, s.ax("b"), s.ax("s"), s.ax("m"))
		target := g.Input("target", dt, s.ax("b"), s.ax("t"), graph.Ax("o", s.Int("m")))
		y := attention.NewDecoder(g, "decoder", dt, m.blocks(s), s.ax("m")).Of(x, []*graph.Node{memory}, attention.Causal(g, s.ax("t"), build.Keys(s.ax("t"))), nil)
		m.Output = nn.NewLinear(g, "read", dt, s.ax("m"), graph.Ax("o", s.Int("m"))).Of(y).As("y")
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := graph.Values{target: signals(rng, target.Type())}
			f[x], f[memory] = noisy(rng, x.Type(), f[target]), noisy(rng, memory.Type(), f[target])
			return f
		}
	},
}

// encoderDecoder makes the model that says a sequence of tokens backwards.
func encoderDecoder(name, title, notes string, layers, memory float64) Builder {
	ofLayers := sizeLayers
	ofLayers.Default = layers
	return Builder{
		Name: name, Title: title, Notes: notes,
		Formula: "z = encoder(source);  y = decoder(target before t, z);  p = softmax(yW + b)",
		Hyperparameters: []Hyperparameter{
			{Name: "b", Default: 8, Doc: "sequences in a batch", Kind: Count},
			{Name: "s", Default: 4, Doc: "tokens of a sequence", Kind: Count}, sizeVocabulary, sizeWidth, sizeHeads, sizeHidden, ofLayers,
			sizeNorm, sizeActivation, sizeShared, sizeQueries, sizeKeys, sizePositions,
			{Name: "memory", Default: memory, Doc: "what the decoder's blocks read: the encoder's last block, or that of their own level", Kind: Choice, Choices: []string{"last", "level"}},
		},
		make: func(s Settings, dt graph.DType, m *Model) {
			g, t := m.Graph, graph.Ax("t", s.Int("s"))
			source, target := g.Input("source", graph.I64, s.ax("b"), s.ax("s")), g.Input("target", graph.I64, s.ax("b"), t)
			net := NewTransformer(g, dt, m.blocks(s), s.ax("w"), s.places(g, "source-places", dt, s.ax("s")), s.places(g, "target-places", dt, t))
			net.Levels = s.Int("memory") == 1
			m.say(net.Of(source, target), target)
			m.Examples = func(rng *rand.Rand) graph.Values {
				f := graph.Values{source: choices(rng, source.Type(), s.Int("w"))}
				f[target] = backwards(f[source], target.Type())
				return f
			}
		},
	}
}

// say makes logits[b t w] the model's: their softmax is its output, the cross-entropy
// of the right tokens its loss.
func (m *Model) say(logits, tokens *graph.Node) {
	m.Output = ops.Softmax(logits, -1).As("p")
	m.Loss = nn.CrossEntropy(logits, tokens).As("loss")
}

// progressions draws sequences of tokens below w: each starts anywhere and goes on by 1
// or by 2, beginning again after the last token.
func progressions(rng *rand.Rand, t graph.Type, w int) graph.Value {
	v := graph.NewValue(t)
	n := t.Shape.Dim(1)
	for i := range t.Shape.Dim(0) {
		at, by := rng.IntN(w), 1+rng.IntN(2)
		for k := range n {
			v.Data[i*n+k] = float64((at + k*by) % w)
		}
	}
	return v
}

var transformerGPT = Builder{
	Name:    "transformer-gpt",
	Title:   "GPT: a decoder that predicts the next token",
	Notes:   "foundation models and GPTs; final linear and softmax layer",
	Formula: "p(wₜ₊₁ | w₁ … wₜ) = softmax(decoder(w₁ … wₜ)W + b);  loss = −mean log p(wₜ₊₁)",
	Hyperparameters: []Hyperparameter{
		{Name: "b", Default: 8, Doc: "sequences in a batch", Kind: Count}, sizeLength, sizeVocabulary, sizeWidth, sizeHeads, sizeHidden, sizeLayers,
		sizeNorm, sizeActivation, sizeShared, sizeQueries, sizeKeys, sizePositions,
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, t := m.Graph, s.ax("t")
		text := g.Input("text", graph.I64, s.ax("b"), graph.Ax("t", t.Size+1))
		tokens, next := ops.Slice(text, "t", 0, t.Size).As("tokens"), ops.Slice(text, "t", 1, t.Size+1).As("next")
		m.say(NewLanguageModel(g, dt, m.blocks(s), s.ax("w"), s.places(g, "places", dt, t)).Of(tokens), next)
		m.Examples = func(rng *rand.Rand) graph.Values {
			return graph.Values{text: progressions(rng, text.Type(), s.Int("w"))}
		}
	},
}

var transformerBERT = Builder{
	Name:    "transformer-bert",
	Title:   "BERT: an encoder that guesses hidden tokens",
	Notes:   "masked reconstruction as self-supervision, with a transformer's encoder",
	Formula: "p = softmax(encoder(shown tokens)W + b);  loss = −mean over hidden t of log p(wₜ)",
	Hyperparameters: []Hyperparameter{
		{Name: "b", Default: 8, Doc: "sequences in a batch", Kind: Count}, sizeLength, sizeVocabulary, sizeWidth, sizeHeads, sizeHidden, sizeLayers,
		sizeNorm, sizeActivation, sizeShared, sizeQueries, sizeKeys, sizePositions,
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, t := m.Graph, s.ax("t")
		tokens, hidden := g.Input("tokens", graph.I64, s.ax("b"), t), g.Input("hidden", graph.Bool, s.ax("b"), t)
		logits := NewMaskedModel(g, dt, m.blocks(s), s.ax("w"), s.places(g, "places", dt, t)).Of(tokens, hidden)
		m.Output = ops.Softmax(logits, -1).As("p")
		m.Loss = nn.HiddenCrossEntropy(logits, tokens, hidden).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := graph.Values{tokens: progressions(rng, tokens.Type(), s.Int("w")), hidden: bernoulli(rng, hidden.Type(), 0.2)}
			for i := range s.Int("b") { // one of each sequence at least
				f[hidden].Data[i*t.Size+rng.IntN(t.Size)] = 1
			}
			return f
		}
	},
}
