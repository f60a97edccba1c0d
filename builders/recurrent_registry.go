package builders

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
)

// recurrent: states carried through time.
var recurrent = []Builder{
	filterFIR, filterIIR,
	remembering("rnn-elman", "simple recurrent network", "recurrent networks: a filter with hidden states, made non-linear; layer norm on h, on x and inside; horizontal skips",
		"hₜ = tanh(W·xₜ + U·hₜ₋₁ + b), with norms inside tanh(norm(W·xₜ) + norm(U·hₜ₋₁) + b);  with horizontal skips hₜ = hₜ₋₁ + tanh(…);  p = softmax(V·h_T + c)", cellElman, sizeHorizontal),
	remembering("rnn-lstm", "LSTM: a recurrent network with memory cells", "the memory cell, a horizontal path for gradients that can be blocked",
		"i = σ(W_i·xₜ + U_i·hₜ₋₁ + b_i), f = σ(W_f·xₜ + U_f·hₜ₋₁ + b_f), o = σ(W_o·xₜ + U_o·hₜ₋₁ + b_o);  "+
			"c̃ = tanh(W_c·xₜ + U_c·hₜ₋₁ + b_c);  cₜ = f⊙cₜ₋₁ + i⊙c̃;  hₜ = o⊙tanh(cₜ);  p = softmax(V·h_T + d)", cellLSTM),
	remembering("rnn-gru", "GRU: hidden values that are their own memory", "recurrent networks with gates, in place of horizontal skips",
		"r = σ(W_r·xₜ + b_r + U_r·hₜ₋₁ + c_r), z = σ(W_z·xₜ + b_z + U_z·hₜ₋₁ + c_z);  "+
			"n = tanh(W_n·xₜ + b_n + r⊙(U_n·hₜ₋₁ + c_n));  hₜ = (1 − z)⊙n + z⊙hₜ₋₁;  p = softmax(V·h_T + d)", cellGRU),
	rnnStacked, rnnBidirectional,
	seq2SeqBottleneck, seq2SeqAttention, seq2SeqConv,
}

var (
	sizeCell       = Hyperparameter{Name: "cell", Doc: "the cell", Kind: Choice, Choices: []string{"elman", "lstm", "gru"}}
	sizeNormed     = Hyperparameter{Name: "norm", Doc: "layer norms: of the cell's input x, of its hidden values h, or inside, of what the weights make of each", Kind: Choice, Choices: []string{"none", "x", "h", "both", "inside"}}
	sizeHorizontal = Hyperparameter{Name: "horizontal", Doc: "shortcuts from step to step: hₜ = hₜ₋₁ + cell(xₜ, hₜ₋₁)", Kind: Flag}
	sizeRun        = Hyperparameter{Name: "run", Doc: "time as a loop, or all steps written out", Kind: Choice, Choices: []string{"loop", "unrolled"}}
	sizeState      = Hyperparameter{Name: "h", Default: 8, Doc: "hidden values of a cell", Kind: Count}
	sizeInput      = Hyperparameter{Name: "m", Default: 4, Doc: "features of a token's vector", Kind: Count}
	sizeSignal     = Hyperparameter{Name: "t", Default: 12, Doc: "times of a signal", Kind: Count}
	sizeText       = Hyperparameter{Name: "b", Default: 8, Doc: "sequences in a batch", Kind: Count}
)

// The places of the choices of sizeCell.
const (
	cellElman = iota
	cellLSTM
	cellGRU
)

// The places of the choices of sizeFeedback.
const (
	feedbackTarget = iota
	feedbackArgmax
	feedbackExpected
)

// maxUnrolled is how many steps a registered model writes out at most.
const maxUnrolled = 64

// unrolled reports whether the settings want the steps written out.
func (m *Model) unrolled(s Settings, steps int) bool {
	return s.Int("run") == 1 && m.atMost("t unrolled", steps, maxUnrolled) > 0
}

// normInside is the place of the norms inside among the choices of sizeNormed. Of the others, the
// first bit is the norm of x and the second that of h.
const normInside = 4

// recurOf adds a layer over vectors d in the scope NAME, with the cell of that place
// among the choices, and norms and horizontal skips where the settings have them.
func recurOf(g *graph.Graph, name string, dt graph.DType, d, h graph.Axis, kind int, s Settings, unroll bool) rnn.Recur {
	cell := cellOf(g, name, dt, d, h, kind, s.Int("norm"))
	if s.Is("horizontal") {
		cell = rnn.HorizontalSkip{Cell: cell}
	}
	return rnn.Recur{Name: name, Cell: cell, Unroll: unroll}
}

func cellOf(g *graph.Graph, name string, dt graph.DType, d, h graph.Axis, kind, norm int) rnn.Cell {
	normed := func(w rnn.Gates) rnn.Gates {
		if norm == normInside {
			return w.NormedInside(name)
		}
		return w.Normed(name, norm&1 != 0, norm&2 != 0)
	}
	switch kind {
	case cellLSTM:
		return rnn.LSTM{Gates: normed(rnn.NewLSTM(g, name, dt, d, h).Gates)}
	case cellGRU:
		return rnn.GRU{Gates: normed(rnn.NewGRU(g, name, dt, d, h).Gates)}
	}
	return rnn.RNN{Gates: normed(rnn.NewRNN(g, name, dt, d, h).Gates)}
}

// filtering makes a model of a filter over signals x[b t], to be learnt from the response of an
// unknown system to noise.
func (m *Model) filtering(s Settings, dt graph.DType, of func(x *graph.Node) *graph.Node, system func(x, y []float64)) {
	b, t := s.ax("b"), s.ax("t")
	x, target := m.Graph.Input("x", dt, b, t), m.Graph.Input("target", dt, b, t)
	m.Output = of(x)
	m.Loss = nn.SquaredError(m.Output, target).As("loss")
	m.Examples = func(rng *rand.Rand) graph.Values {
		f := graph.Values{x: normals(rng, x.Type()), target: graph.NewValue(target.Type())}
		for i := 0; i < len(f[x].Data); i += t.Size {
			system(f[x].Data[i:][:t.Size], f[target].Data[i:][:t.Size])
		}
		for i, y := range f[target].Data {
			f[target].Data[i] = dt.Round(y)
		}
		return f
	}
}

var filterFIR = Builder{
	Name:    "filter-fir",
	Title:   "moving average that is learnt",
	Notes:   "filters with a finite impulse response: generalised moving averages, the convolution",
	Formula: "ŷₜ = Σₖ wₖ·xₜ₋ₖ;  loss = mean (ŷₜ − yₜ)²",
	Hyperparameters: []Hyperparameter{
		{Name: "b", Default: 8, Doc: "signals in a batch", Kind: Count}, sizeSignal,
		{Name: "k", Default: 4, Doc: "taps: how many inputs the filter looks at", Kind: Count},
		{Name: "beta", Default: 0.6, Doc: "the unknown system's taps are (1 − β)·βᵏ, an exponentially weighted average"},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		β, taps := s["beta"], s.Int("k")
		m.filtering(s, dt, rnn.NewFIR(m.Graph, dt, s.ax("k")).Of, func(x, y []float64) {
			for t := range y {
				w := 1 - β
				for k := range min(taps, t+1) {
					y[t] += w * x[t-k]
					w *= β
				}
			}
		})
	},
}

var filterIIR = Builder{
	Name:    "filter-iir",
	Title:   "linear system with hidden states that is learnt",
	Notes:   "filters with an infinite impulse response: hidden states, the loss between estimated and real outputs",
	Formula: "hₜ = a⊙hₜ₋₁ + b·xₜ;  ŷₜ = ⟨c, hₜ⟩ + d·xₜ;  loss = mean (ŷₜ − yₜ)²",
	Hyperparameters: []Hyperparameter{
		{Name: "b", Default: 8, Doc: "signals in a batch", Kind: Count}, sizeSignal,
		{Name: "n", Default: 1, Doc: "hidden states", Kind: Count},
		{Name: "a", Default: 0.8, Doc: "what the unknown system keeps of its state"},
		{Name: "gain", Default: 0.5, Doc: "what its state adds to its output, b·c"},
		{Name: "d", Default: -0.5, Doc: "what the input adds at once"}, sizeRun,
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		f := rnn.NewIIR(m.Graph, dt, s.ax("n"))
		f.Unroll = m.unrolled(s, s.Int("t"))
		m.filtering(s, dt, f.Of, func(x, y []float64) {
			h := 0.0
			for t := range y {
				h = s["a"]*h + x[t]
				y[t] = s["gain"]*h + s["d"]*x[t]
			}
		})
	},
}

// tokensOf adds the input tokens[b t] and their vectors x[b t m].
func tokensOf(g *graph.Graph, s Settings, dt graph.DType) (tokens, x *graph.Node) {
	tokens = g.Input("tokens", graph.I64, s.ax("b"), s.ax("t"))
	return tokens, nn.NewEmbedding(g, "embedding", dt, s.ax("w"), s.ax("m")).Of(tokens)
}

// remembering makes the model of a layer of one kind of cell. Its task: when a sequence
// has ended, say the token it began with.
func remembering(name, title, notes, formula string, kind int, more ...Hyperparameter) Builder {
	return Builder{
		Name: name, Title: title, Notes: notes, Formula: formula,
		Hyperparameters: append([]Hyperparameter{sizeText, sizeLength, sizeVocabulary, sizeInput, sizeState, sizeNormed, sizeRun}, more...),
		make: func(s Settings, dt graph.DType, m *Model) {
			g := m.Graph
			tokens, x := tokensOf(g, s, dt)
			layer := recurOf(g, "recurrent", dt, s.ax("m"), s.ax("h"), kind, s, m.unrolled(s, s.Int("t")))
			_, final := layer.Read(x)
			first := g.Input("first", graph.I64, s.ax("b"))
			m.say(nn.NewLinear(g, "output", dt, s.ax("h"), s.ax("w")).Of(final[0]).As("logits"), first)
			m.Examples = func(rng *rand.Rand) graph.Values {
				f := graph.Values{tokens: choices(rng, tokens.Type(), s.Int("w"))}
				f[first] = build.Computed(first.Type(), func(i int) float64 { return f[tokens].Data[i*s.Int("t")] })
				return f
			}
		},
	}
}

// labelling makes a model of a layer that says a token at every place of a sequence:
// the one that stands at the place which at gives, or token 0 if there is no such place.
func (m *Model) labelling(s Settings, dt graph.DType, width graph.Axis, layer nn.Layer, tokens, x *graph.Node, at func(t int) int) {
	target := m.Graph.Input("target", graph.I64, s.ax("b"), s.ax("t"))
	m.say(nn.NewLinear(m.Graph, "output", dt, width, s.ax("w")).Of(layer.Of(x)).As("logits"), target)
	m.Examples = func(rng *rand.Rand) graph.Values {
		f, n := graph.Values{tokens: choices(rng, tokens.Type(), s.Int("w"))}, s.Int("t")
		f[target] = build.Computed(target.Type(), func(i int) float64 {
			if k := at(i % n); k >= 0 && k < n {
				return f[tokens].Data[i-i%n+k]
			}
			return 0
		})
		return f
	}
}

var rnnStacked = Builder{
	Name:    "rnn-stacked",
	Title:   "recurrent layers on each other, with vertical skips",
	Notes:   "stacking recurrent layers; skip connections in the vertical direction, and in the horizontal one",
	Formula: "hˡₜ = cell(xˡ⁻¹ₜ, hˡₜ₋₁), with horizontal skips hˡₜ₋₁ + cell(xˡ⁻¹ₜ, hˡₜ₋₁);  xˡₜ = hˡₜ + xˡ⁻¹ₜ;  pₜ = softmax(Vxᴸₜ + c)",
	Hyperparameters: []Hyperparameter{
		sizeText, sizeLength, sizeVocabulary, sizeInput, sizeState, {Name: "layers", Default: 2, Doc: "layers on each other", Kind: Count},
		sizeCell, {Name: "skip", Default: 1, Doc: "shortcuts past every layer but the first", Kind: Flag}, sizeHorizontal, sizeNormed, sizeRun,
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, h := m.Graph, s.ax("h")
		tokens, x := tokensOf(g, s, dt)
		stack, d := rnn.Stack{Name: "stack", Skip: s.Is("skip")}, s.ax("m")
		unroll := m.unrolled(s, s.Int("t"))
		end := g.Scope(stack.Name)
		for i := range m.atMost("layers", s.Int("layers"), 16) {
			stack.Layers = append(stack.Layers, recurOf(g, build.Numbered("layer", i), dt, d, h, s.Int("cell"), s, unroll))
			d = h
		}
		end()
		// The token before: each place says what stood to its left.
		m.labelling(s, dt, d, stack, tokens, x, func(t int) int { return t - 1 })
	},
}

var rnnBidirectional = Builder{
	Name:            "rnn-bidirectional",
	Title:           "bidirectional recurrent network",
	Notes:           "sequence learning via bidirectional RNNs",
	Formula:         "→hₜ = cell(xₜ, →hₜ₋₁);  ←hₜ = cell′(xₜ, ←hₜ₊₁);  pₜ = softmax(V[→hₜ; ←hₜ] + c)",
	Hyperparameters: []Hyperparameter{sizeText, sizeLength, sizeVocabulary, sizeInput, sizeState, sizeCell, sizeNormed, sizeRun},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, h := m.Graph, s.ax("h")
		tokens, x := tokensOf(g, s, dt)
		unroll := m.unrolled(s, s.Int("t"))
		end := g.Scope("bidirectional")
		layer := rnn.Bidirectional{
			Name:     "bidirectional",
			Forward:  recurOf(g, "forward", dt, s.ax("m"), h, s.Int("cell"), s, unroll),
			Backward: recurOf(g, "backward", dt, s.ax("m"), h, s.Int("cell"), s, unroll),
		}
		end()
		// The first half wants the token after, the second the one before: either way
		// alone does not see both.
		m.labelling(s, dt, graph.Ax("h", 2*h.Size), layer, tokens, x, func(t int) int {
			if 2*t < s.Int("t") {
				return t + 1
			}
			return t - 1
		})
	},
}

// translating makes a model that says the source backwards, of an encoder and a decoder
// whose cell has that width; looks makes the score of a decoder that looks back, nil
// where it does not.
func (m *Model) translating(s Settings, dt graph.DType, encoder rnn.Reader, width graph.Axis, looks func(h, s graph.Axis) attention.Score) {
	g, t, w := m.Graph, graph.Ax("t", s.Int("s")), s.ax("w")
	unroll := m.unrolled(s, t.Size)
	net := rnn.Seq2Seq{
		Source:  nn.NewEmbedding(g, "source-embedding", dt, w, s.ax("m")),
		Target:  nn.NewEmbedding(g, "target-embedding", dt, withOneMore(w), s.ax("m")),
		Encoder: encoder,
		Cell:    cellOf(g, "decoder", dt, s.ax("m"), width, s.Int("cell"), 0),
		Unroll:  unroll,
	}
	seen := width
	if looks != nil {
		net.Score = looks(graph.Ax("h", width.Size), width)
		seen = graph.Ax("as", 2*width.Size)
	}
	net.Output = nn.NewLinear(g, "output", dt, seen, w)
	source, target := g.Input("source", graph.I64, s.ax("b"), s.ax("s")), g.Input("target", graph.I64, s.ax("b"), t)
	said := rnn.Said{}
	switch s.Int("feedback") {
	case feedbackTarget:
		said = net.Forced(source, target)
	case feedbackArgmax:
		said = net.Free(source, t, rnn.Likeliest)
	case feedbackExpected:
		said = net.Free(source, t, rnn.Expected)
	}
	m.say(said.Logits, target)
	m.Examples = func(rng *rand.Rand) graph.Values {
		f := graph.Values{source: choices(rng, source.Type(), w.Size)}
		f[target] = backwards(f[source], target.Type())
		return f
	}
}

// backwards returns tokens[b s] from the last to the first.
func backwards(tokens graph.Value, t graph.Type) graph.Value {
	n := t.Shape.Dim(1)
	return build.Computed(t, func(p int) float64 { return tokens.Data[p-p%n+n-1-p%n] })
}

var (
	sizeFeedback = Hyperparameter{Name: "feedback", Doc: "what the decoder takes for the token before: the right one (teacher forcing), its own argmax, or its expected vector", Kind: Choice, Choices: []string{"target", "argmax", "expected"}}
	sizeSource   = Hyperparameter{Name: "s", Default: 3, Doc: "tokens of a sequence", Kind: Count}
	sizeSummary  = Hyperparameter{Name: "h", Default: 12, Doc: "hidden values of encoder and decoder", Kind: Count}
	sizeGated    = Hyperparameter{Name: "cell", Default: cellGRU, Doc: "the cell of encoder and decoder", Kind: Choice, Choices: sizeCell.Choices}
)

// readerOf returns a recurrent encoder with hidden values h.
func (m *Model) readerOf(s Settings, dt graph.DType, h graph.Axis) rnn.Recur {
	return rnn.Recur{Cell: cellOf(m.Graph, "encoder", dt, s.ax("m"), h, s.Int("cell"), 0), Unroll: m.unrolled(s, s.Int("s"))}
}

// readerBothWays returns a bidirectional encoder with hidden values h each way.
func (m *Model) readerBothWays(s Settings, dt graph.DType, h graph.Axis) rnn.Bidirectional {
	defer m.Graph.Scope("encoder")()
	way := func(name string) rnn.Recur {
		return recurOf(m.Graph, name, dt, s.ax("m"), h, s.Int("cell"), s, m.unrolled(s, s.Int("s")))
	}
	return rnn.Bidirectional{Forward: way("forward"), Backward: way("backward")}
}

var seq2SeqBottleneck = Builder{
	Name:            "seq2seq-bottleneck",
	Title:           "encoder and decoder with a bottleneck",
	Notes:           "machine translation: an RNN encoder, an RNN decoder, and the bottleneck between",
	Formula:         "s₀ = encoder(x);  sₜ = cell(yₜ₋₁, sₜ₋₁);  p(yₜ) = softmax(Vsₜ + c)",
	Hyperparameters: []Hyperparameter{sizeText, sizeSource, sizeVocabulary, sizeInput, sizeSummary, sizeGated, sizeFeedback, sizeRun},
	make: func(s Settings, dt graph.DType, m *Model) {
		m.translating(s, dt, m.readerOf(s, dt, s.ax("h")), s.ax("h"), nil)
	},
}

var seq2SeqAttention = Builder{
	Name:    "seq2seq-attention",
	Title:   "encoder and decoder that looks back",
	Notes:   "attention variants in sequence-to-sequence models: dot-product, multiplicative, additive",
	Formula: "sₜ = cell(yₜ₋₁, sₜ₋₁);  α = softmaxᵢ(score(sₜ, hᵢ));  a = Σᵢ αᵢhᵢ;  p(yₜ) = softmax(V[a; sₜ] + c)",
	Hyperparameters: []Hyperparameter{
		sizeText, sizeSource, sizeVocabulary, sizeInput, sizeSummary, sizeGated,
		{Name: "score", Doc: "how states are compared: sᵀh, sᵀWh, or vᵀtanh(W₁h + W₂s)", Kind: Choice, Choices: []string{"dot", "multiplicative", "additive"}},
		{Name: "bidirectional", Doc: "the encoder reads both ways, and the decoder has as many hidden values as both", Kind: Flag}, sizeFeedback, sizeRun,
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		var reader rnn.Reader
		width := graph.Ax("c", s.Int("h"))
		if s.Is("bidirectional") {
			reader, width.Size = m.readerBothWays(s, dt, s.ax("h")), 2*width.Size
		} else {
			reader = m.readerOf(s, dt, s.ax("h"))
		}
		score := func(h, c graph.Axis) attention.Score { return attention.NewMultiplicativeScore(m.Graph, dt, c, h) }
		switch s.Int("score") {
		case 0: // compares the features as they are, so they have one name
			width.Name, score = "h", func(_, _ graph.Axis) attention.Score { return attention.DotScore{} }
		case 2:
			score = func(h, c graph.Axis) attention.Score {
				return attention.NewAdditiveScore(m.Graph, dt, c, h, graph.Ax("a", h.Size))
			}
		}
		m.translating(s, dt, reader, width, score)
	},
}

var seq2SeqConv = Builder{
	Name:    "seq2seq-cnn",
	Title:   "convolutional encoder with a recurrent decoder",
	Notes:   "CNN for text: a CNN as encoder, an RNN as decoder",
	Formula: "s₀ = tanh(W₂∗tanh(W₁∗x + b₁) + b₂);  sₜ = cell(yₜ₋₁, sₜ₋₁);  p(yₜ) = softmax(Vsₜ + c)",
	Hyperparameters: []Hyperparameter{
		sizeText, sizeSource, sizeVocabulary, sizeInput, sizeSummary, {Name: "window", Default: 2, Doc: "places that a convolution sees at once", Kind: Count},
		sizeGated, sizeFeedback, sizeRun,
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		n, window := s.Int("s"), s.Int("window")
		if window > 1 {
			m.atMost("s / (window − 1)", n/(window-1), 32)
		}
		reader := rnn.NewConvReader(m.Graph, "encoder", dt, graph.Ax("s", min(n, 256)), s.ax("m"), s.ax("h"), window)
		reader.Name = "" // the model opens a scope around its encoder
		m.translating(s, dt, reader, s.ax("h"), nil)
	},
}
