package builders

import (
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// attention: memory that is asked.
var attentionModels = []Builder{
	softTable, selfAttention, crossAttention, multiHead, queryNorm,
	alignment("attention-dot", "dot-product attention of a decoder", "eᵢ = sᵀhᵢ;  α = softmax(e);  a = Σᵢ αᵢhᵢ", "d",
		func(*graph.Graph, graph.DType, graph.Axis, graph.Axis) attention.Score { return attention.DotScore{} }),
	alignment("attention-multiplicative", "multiplicative attention of a decoder", "eᵢ = sᵀWhᵢ;  α = softmax(e);  a = Σᵢ αᵢhᵢ", "c",
		func(g *graph.Graph, dt graph.DType, s, h graph.Axis) attention.Score {
			return attention.NewMultiplicativeScore(g, dt, s, h)
		}),
	alignment("attention-additive", "additive attention of a decoder", "eᵢ = vᵀtanh(W₁hᵢ + W₂s);  α = softmax(e);  a = Σᵢ αᵢhᵢ", "c",
		func(g *graph.Graph, dt graph.DType, s, h graph.Axis) attention.Score {
			return attention.NewAdditiveScore(g, dt, s, h, graph.Ax("a", h.Size))
		}),
	bidirectionalAttention, kernelAttention,
}

var (
	sizeBatch  = Hyperparameter{Name: "b", Default: 4, Doc: "sequences in a batch", Kind: Count}
	sizeLength = Hyperparameter{Name: "t", Default: 5, Doc: "places of a sequence", Kind: Count}
	sizeMemory = Hyperparameter{Name: "s", Default: 5, Doc: "places of the memory", Kind: Count}
	sizeWidth  = Hyperparameter{Name: "m", Default: 8, Doc: "features of a place", Kind: Count}
	sizeHeads  = Hyperparameter{Name: "heads", Default: 2, Doc: "heads of an attention", Kind: Count}
	sizeMask   = Hyperparameter{Name: "mask", Doc: "what a place does not see", Kind: Choice, Choices: []string{"none", "causal", "padding", "both"}}
)

// The parts of the choices of sizeMask.
const (
	maskCausal  = 1
	maskPadding = 2
)

func (s Settings) ax(name string) graph.Axis { return graph.Ax(name, s.Int(name)) }

// sight holds, by the settings, which places of a sequence see each other.
type sight struct {
	mask    *graph.Node // nil: everything
	lengths *graph.Node // the input mask/length[b]; nil if all sequences are full
	present *graph.Node // [b t]: what is no padding; nil for all
}

func newSight(g *graph.Graph, s Settings) (v sight) {
	defer g.Scope("mask")()
	t := s.ax("t")
	if s.Int("mask")&maskPadding != 0 {
		v.lengths = g.Input("length", graph.I64, s.ax("b"))
		v.present = nn.Present(v.lengths, t)
		v.mask = attention.Padding(v.lengths, build.Keys(t))
	}
	if s.Int("mask")&maskCausal != 0 {
		causal := attention.Causal(g, t, build.Keys(t))
		if v.mask == nil {
			v.mask = causal
		} else {
			v.mask = ops.And(causal, v.mask).As("mask")
		}
	}
	return v
}

// loss returns the mean squared error of y[b t m] over the places that are present.
func (v sight) loss(y, target *graph.Node) *graph.Node {
	if v.present == nil {
		return nn.SquaredError(y, target).As("loss")
	}
	return nn.MeanWhere(ops.Mean(ops.Square(ops.Sub(y, target)), -1), v.present).As("loss")
}

// denoise makes a model of a layer that sees all of a sequence x[b t m]. Its task: every
// place shows the same signal of plus and minus ones, each with noise of its own, and
// the signal is wanted. A place that sees many others can average.
func (m *Model) denoise(s Settings, dt graph.DType, layer func(x, mask *graph.Node) *graph.Node) {
	x := m.Graph.Input("x", dt, s.ax("b"), s.ax("t"), s.ax("m"))
	v := newSight(m.Graph, s)
	m.Output = layer(x, v.mask).As("y")
	target := m.Graph.Input("target", dt, m.Output.Shape().Axes()...)
	m.Loss = v.loss(m.Output, target)
	m.Examples = func(rng *rand.Rand) graph.Values {
		f := graph.Values{target: signals(rng, target.Type())}
		f[x] = noisy(rng, x.Type(), f[target])
		if v.lengths != nil {
			f[v.lengths] = build.Drawn(v.lengths.Type(), func() float64 { return float64(1 + rng.IntN(s.Int("t"))) })
		}
		return f
	}
}

// signals draws for each sequence of [b t m] features of 1 or −1, the same at all places.
func signals(rng *rand.Rand, t graph.Type) graph.Value {
	n, d := t.Shape.Dim(1), t.Shape.Dim(2)
	signal := make([]float64, t.Shape.Dim(0)*d)
	for i := range signal {
		signal[i] = float64(2*rng.IntN(2) - 1)
	}
	return build.Computed(t, func(p int) float64 { return signal[p/(n*d)*d+p%d] })
}

// noisy draws observations of signals with noise, at any number of places.
func noisy(rng *rand.Rand, t graph.Type, signals graph.Value) graph.Value {
	n, m, d := t.Shape.Dim(1), signals.Type.Shape.Dim(1), t.Shape.Dim(2)
	return build.Computed(t, func(p int) float64 { return signals.Data[p/(n*d)*m*d+p%d] + rng.NormFloat64() })
}

// lookup draws the task of a model that asks: the rows of a memory[b u d] are an
// address, the first half, and a content; asked for are rows of which the content is
// left out, to be found whole. Queries are [b t d], or [b d] for one of each memory.
func lookup(rng *rand.Rand, memory, query graph.Type) (rows, asked, found graph.Value) {
	b, n, d := memory.Shape.Dim(0), memory.Shape.Dim(1), memory.Shape.Dim(2)
	address := (d + 1) / 2
	rows = normals(rng, memory)
	for p := range rows.Data {
		if p%d < address {
			rows.Data[p] *= 2 // so that addresses differ clearly
		}
	}
	each := query.Shape.Len() / (b * d)
	asked, found = graph.NewValue(query), graph.NewValue(query)
	for q := range b * each {
		row := rows.Data[(q/each*n+rng.IntN(n))*d:][:d]
		copy(found.Data[q*d:], row)
		copy(asked.Data[q*d:], row[:address])
	}
	return rows, asked, found
}

var softTable = Builder{
	Name:    "attention-table",
	Title:   "soft hash table",
	Notes:   "attention as a soft approximate hash table, a query-able softmax pooling",
	Formula: "eᵢₜ = ⟨qₜ, kᵢ⟩/√d;  αᵢₜ = softmaxᵢ(eᵢₜ);  yₜ = Σᵢ αᵢₜ vᵢ",
	Hyperparameters: []Hyperparameter{
		sizeBatch, {Name: "i", Default: 5, Doc: "pairs of a key and a value", Kind: Count}, {Name: "t", Default: 3, Doc: "queries", Kind: Count},
		{Name: "d", Default: 4, Doc: "features of a key", Kind: Count}, {Name: "f", Default: 4, Doc: "features of a value", Kind: Count},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, d, f := m.Graph, s.ax("d"), s.ax("f")
		k, v := g.Input("k", dt, s.ax("b"), s.ax("i"), d), g.Input("v", dt, s.ax("b"), s.ax("i"), f)
		x := g.Input("x", dt, s.ax("b"), s.ax("t"), graph.Ax("m", d.Size))
		target := g.Input("target", dt, s.ax("b"), s.ax("t"), f)
		q := nn.NewProjection(g, "query", dt, graph.Ax("m", d.Size), d).Of(x).As("q")
		y, _ := attention.Table{}.Write(k, v).Read(q)
		m.Output = y.As("y")
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			// A query is a key with its features in the opposite order.
			feed := graph.Values{k: normals(rng, k.Type()), v: normals(rng, v.Type()), x: graph.NewValue(x.Type()), target: graph.NewValue(target.Type())}
			for i := range feed[k].Data {
				feed[k].Data[i] *= 2
			}
			queries, pairs := s.Int("t"), s.Int("i")
			for p := range s.Int("b") * queries {
				row := p/queries*pairs + rng.IntN(pairs)
				copy(feed[x].Data[p*d.Size:], feed[k].Data[row*d.Size:][:d.Size])
				slices.Reverse(feed[x].Data[p*d.Size:][:d.Size])
				copy(feed[target].Data[p*f.Size:], feed[v].Data[row*f.Size:][:f.Size])
			}
			return feed
		}
	},
}

var selfAttention = Builder{
	Name:            "attention-self",
	Title:           "self-attention with queries, keys and values",
	Notes:           "self-attention with the QKV formulation",
	Formula:         "q = xWᵠ, k = xWᵏ, v = xWᵛ;  y = softmax(qkᵀ/√d)v, or softmax(qkᵀ)v",
	Hyperparameters: []Hyperparameter{sizeBatch, sizeLength, sizeWidth, sizeMask, {Name: "scale", Default: 1, Doc: "whether scores are over √d; without, aᵢⱼ = qᵢ·kⱼ", Kind: Flag}},
	make: func(s Settings, dt graph.DType, m *Model) {
		m.denoise(s, dt, func(x, mask *graph.Node) *graph.Node {
			p := attention.NewQKV(m.Graph, dt, s.ax("m"), s.ax("m"), graph.Ax("d", s.Int("m")))
			if s.Is("scale") {
				y, _ := p.Attend(x, x, mask)
				return y
			}
			q, k, v := p.Of(x, x)
			y, _ := attention.Pool(attention.Scores(q.As("q"), k.As("k")).As("a"), v.As("v"), mask)
			return y
		})
	},
}

var crossAttention = Builder{
	Name:            "attention-cross",
	Title:           "cross-attention with queries, keys and values",
	Notes:           "self-attention and cross-attention: whether the table queried is the one written",
	Formula:         "q = xWᵠ, k = memory·Wᵏ, v = memory·Wᵛ;  y = softmax(qkᵀ/√d)v",
	Hyperparameters: []Hyperparameter{sizeBatch, sizeLength, sizeMemory, sizeWidth},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, d := m.Graph, graph.Ax("d", s.Int("m"))
		x, memory := g.Input("x", dt, s.ax("b"), s.ax("t"), s.ax("m")), g.Input("memory", dt, s.ax("b"), s.ax("s"), s.ax("m"))
		target := g.Input("target", dt, s.ax("b"), s.ax("t"), d)
		y, _ := attention.NewQKV(g, dt, s.ax("m"), s.ax("m"), d).Attend(x, memory, nil)
		m.Output = y.As("y")
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			rows, asked, found := lookup(rng, memory.Type(), x.Type())
			found.Type = target.Type()
			return graph.Values{memory: rows, x: asked, target: found}
		}
	},
}

// heads makes a model of multi-head self-attention, with a norm of the queries or none, and of the
// keys if the settings ask for it.
func heads(norm bool) func(Settings, graph.DType, *Model) {
	return func(s Settings, dt graph.DType, m *Model) {
		m.denoise(s, dt, func(x, mask *graph.Node) *graph.Node {
			g, d := m.Graph, s.ax("m")
			a := attention.NewMultiHead(g, "attention", dt, d, d, s.Int("heads"))
			if norm {
				a = a.WithQueryNorm()
			}
			if s.Int("keys") == 1 {
				a = a.WithKeyNorm()
			}
			return a.Of(x, x, mask)
		})
	}
}

var multiHead = Builder{
	Name:            "attention-multihead",
	Title:           "multi-head self-attention",
	Notes:           "multi-headed attention, the second key idea of transformers",
	Formula:         "headᵢ = softmax(qᵢkᵢᵀ/√e)vᵢ;  z = concat(head₁, …, headₕ)Wᴼ",
	Hyperparameters: []Hyperparameter{sizeBatch, sizeLength, sizeWidth, sizeHeads, sizeMask},
	make:            heads(false),
}

var queryNorm = Builder{
	Name:            "attention-query-norm",
	Title:           "self-attention with scaled queries",
	Notes:           "layer normalisation and query standardisation in transformers",
	Formula:         "q̂ = gain ⊙ q/√(mean q² + ε);  z = concat(softmax(q̂ᵢkᵢᵀ/√e)vᵢ)Wᴼ;  scaled keys: k̂ = gain′ ⊙ k/√(mean k² + ε)",
	Hyperparameters: []Hyperparameter{sizeBatch, sizeLength, sizeWidth, sizeHeads, sizeMask, sizeKeys},
	make:            heads(true),
}

// alignment makes the model of a decoder's step that looks at an encoder's states:
// y = [a; s]·W + b. The features of the decoder's state are called c, or d where they
// are compared with those of the encoder's states as they are.
func alignment(name, title, formula, c string, score func(g *graph.Graph, dt graph.DType, s, h graph.Axis) attention.Score) Builder {
	return Builder{
		Name: name, Title: title, Formula: formula,
		Notes:           "attention variants in sequence-to-sequence models",
		Hyperparameters: []Hyperparameter{sizeBatch, sizeLength, {Name: "d", Default: 6, Doc: "features of a state", Kind: Count}},
		make: func(s Settings, dt graph.DType, m *Model) {
			g, d := m.Graph, s.ax("d")
			h, state := g.Input("h", dt, s.ax("b"), s.ax("t"), d), g.Input("s", dt, s.ax("b"), graph.Ax(c, d.Size))
			target := g.Input("target", dt, s.ax("b"), graph.Ax("o", d.Size))
			a, _ := attention.AttendStates(score(g, dt, build.Last(state), d), state, h, nil)
			both := ops.Concat(-1, ops.Rename(a, -1, "as"), ops.Rename(state, -1, "as")).As("[a; s]")
			m.Output = nn.NewLinear(g, "output", dt, graph.Ax("as", 2*d.Size), graph.Ax("o", d.Size)).Of(both).As("y")
			m.Loss = nn.SquaredError(m.Output, target).As("loss")
			m.Examples = func(rng *rand.Rand) graph.Values {
				rows, asked, found := lookup(rng, h.Type(), state.Type())
				found.Type = target.Type()
				return graph.Values{h: rows, state: asked, target: found}
			}
		},
	}
}
