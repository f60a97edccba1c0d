package builders

import (
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// selfSupervision: labels made from the data.
var selfSupervision = []Builder{
	linearAutoencoder, autoencoder, codeClassifier, denoisingAutoencoder, maskedAutoencoder, skipGramSoftmax, skipGramNegative, bagOfWords,
}

var (
	sizeRows        = Hyperparameter{Name: "i", Default: 32, Doc: "rows in a batch", Kind: Count}
	sizeRowFeatures = Hyperparameter{Name: "d", Default: 8, Doc: "features of a row", Kind: Count}
	sizeCode        = Hyperparameter{Name: "k", Default: 2, Doc: "numbers that pass the bottleneck", Kind: Count}
	sizeHiddenUnits = Hyperparameter{Name: "h", Default: 16, Doc: "hidden units", Kind: Count}
	sizePairs       = Hyperparameter{Name: "i", Default: 64, Doc: "pairs of words in a batch", Kind: Count}
	sizeWords       = Hyperparameter{Name: "w", Default: 8, Doc: "words of the vocabulary", Kind: Count}
	sizeVector      = Hyperparameter{Name: "m", Default: 4, Doc: "numbers of a word's vector", Kind: Count}
)

// rows adds the input x[i d].
func (s Settings) rows(g *graph.Graph, dt graph.DType) *graph.Node {
	return g.Input("x", dt, s.ax("i"), s.ax("d"))
}

// waves draws rows x[i d] around a mean that differ along two cosines over the features, strongly
// along the first, and a little in all directions.
func waves(rng *rand.Rand, t graph.Type, mean float64) graph.Value {
	d := t.Shape.Dim(1)
	var first, second float64
	return build.Computed(t, func(p int) float64 {
		if p%d == 0 {
			first, second = 1.5*rng.NormFloat64(), rng.NormFloat64()
		}
		at := math.Pi * (float64(p%d) + 0.5) / float64(d)
		return mean + first*math.Cos(at) + second*math.Cos(2*at) + 0.1*rng.NormFloat64()
	})
}

// bumps draws rows x[i d] that are one number each, the place of a bump: they lie on a
// curve that no plane holds.
func bumps(rng *rand.Rand, t graph.Type) graph.Value {
	x, _ := placedBumps(rng, t)
	return x
}

// placedBumps draws bumps, and returns their places, from 0 to below 1, too.
func placedBumps(rng *rand.Rand, t graph.Type) (x graph.Value, places []float64) {
	d := t.Shape.Dim(1)
	var centre float64
	x = build.Computed(t, func(p int) float64 {
		if p%d == 0 {
			places = append(places, rng.Float64())
			centre = places[p/d] * float64(d-1)
		}
		away := (float64(p%d) - centre) / 1.5
		return math.Exp(-away * away)
	})
	return x, places
}

var linearAutoencoder = Builder{
	Name:    "autoencoder-linear",
	Title:   "linear autoencoder",
	Notes:   "unsupervised learning as self-supervision: dimensionality reduction in the autoencoder style",
	Formula: "y = xA;  x̂ = yB, or y = xA + a;  x̂ = yB + b;  loss = meanᵢ ‖xᵢ − x̂ᵢ‖²",
	Hyperparameters: []Hyperparameter{
		sizeRows, sizeRowFeatures, sizeCode,
		{Name: "offsets", Doc: "learn a and b; without them the rows should have mean 0, as those of the model's own examples then have", Kind: Flag},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		x := s.rows(m.Graph, dt)
		a := NewLinearAutoencoder(m.Graph, dt, s.ax("d"), s.ax("k"), s.Is("offsets"))
		m.reconstruct(x, a.Of(x), func(rng *rand.Rand, t graph.Type) graph.Value { return waves(rng, t, s["offsets"]) })
	},
}

// reconstruct makes x̂ the model's output and its difference from x the loss.
func (m *Model) reconstruct(x, made *graph.Node, task func(*rand.Rand, graph.Type) graph.Value) {
	m.Output, m.Loss = made, ReconstructionError(x, made).As("loss")
	m.Examples = func(rng *rand.Rand) graph.Values { return graph.Values{x: task(rng, x.Type())} }
}

var autoencoder = Builder{
	Name:            "autoencoder",
	Title:           "autoencoder",
	Notes:           "unsupervised learning as self-supervision: non-linear encoder and decoder",
	Formula:         "y = tanh(xW₁ + b₁)W₂ + b₂;  x̂ = tanh(yW₃ + b₃)W₄ + b₄;  loss = meanᵢ ‖xᵢ − x̂ᵢ‖²",
	Hyperparameters: []Hyperparameter{sizeRows, sizeRowFeatures, sizeCode, sizeHiddenUnits},
	make: func(s Settings, dt graph.DType, m *Model) {
		x := s.rows(m.Graph, dt)
		m.reconstruct(x, NewAutoencoder(m.Graph, dt, s.ax("d"), s.ax("k"), s.ax("h")).Of(x), bumps)
	},
}

var codeClassifier = Builder{
	Name:    "autoencoder-classifier",
	Title:   "classifier on the code of an autoencoder",
	Notes:   "unsupervised learning as self-supervision: autoencoders as the start of supervised training",
	Formula: "y = tanh(xW₁ + b₁)W₂ + b₂, the encoder of an autoencoder;  scores = y·V + c;  loss = mean −log softmax(scores)[label]",
	Hyperparameters: []Hyperparameter{sizeRows, sizeRowFeatures, sizeCode, sizeHiddenUnits,
		{Name: "classes", Default: 3, Doc: "classes; the model's own examples are bumps by the section that they lie in", Kind: Count},
		{Name: "frozen", Doc: "whether the encoder is kept as it is", Kind: Flag}},
	make: func(s Settings, dt graph.DType, m *Model) {
		x, label := s.rows(m.Graph, dt), m.Graph.Input("label", graph.I64, s.ax("i"))
		y := NewEncoder(m.Graph, dt, s.ax("d"), s.ax("k"), s.Is("frozen"), s.ax("h")).Encode(x)
		m.Output = nn.NewLinear(m.Graph, "head", dt, s.ax("k"), graph.Ax("c", s.Int("classes"))).Of(y).As("scores")
		m.Loss = nn.CrossEntropy(m.Output, label).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			rows, places := placedBumps(rng, x.Type())
			return graph.Values{x: rows, label: build.Computed(label.Type(), func(i int) float64 { return math.Floor(places[i] * s["classes"]) })}
		}
	},
}

var denoisingAutoencoder = Builder{
	Name:            "autoencoder-denoising",
	Title:           "denoising autoencoder",
	Notes:           "variations on the autoencoder: purification of its input",
	Formula:         "x̃ = x + σε;  x̂ = decoder(encoder(x̃));  loss = meanᵢ ‖xᵢ − x̂ᵢ‖²",
	Hyperparameters: []Hyperparameter{sizeRows, sizeRowFeatures, sizeCode, sizeHiddenUnits, {Name: "sigma", Default: 0.2, Doc: "standard deviation σ of the noise; 0 in evaluation", Training: true}},
	make: func(s Settings, dt graph.DType, m *Model) {
		x := s.rows(m.Graph, dt)
		noisy := Corrupt(x, m.Graph.Scalar("σ", s["sigma"], dt))
		m.reconstruct(x, NewAutoencoder(m.Graph, dt, s.ax("d"), s.ax("k"), s.ax("h")).Of(noisy), bumps)
	},
}

var maskedAutoencoder = Builder{
	Name:            "autoencoder-masked",
	Title:           "masked reconstruction",
	Notes:           "self-supervision in the masked reconstruction style; predict a missing part of x from the others",
	Formula:         "y = tanh(shown·W₁ + missing·M + b₁);  x̂ = yW₂ + b₂;  loss = mean over what is missing of (x − x̂)²",
	Hyperparameters: []Hyperparameter{sizeRows, sizeRowFeatures, sizeHiddenUnits, {Name: "rho", Default: 0.25, Doc: "probability ρ that a number is missing"}},
	make: func(s Settings, dt graph.DType, m *Model) {
		x := s.rows(m.Graph, dt)
		missing := Missing(x, m.Graph.Scalar("ρ", s["rho"], dt))
		m.Output = NewMaskedAutoencoder(m.Graph, dt, s.ax("d"), s.ax("h")).Of(x, missing)
		m.Loss = MissingSquaredError(m.Output, x, missing).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values { return graph.Values{x: bumps(rng, x.Type())} }
	},
}

// frequency says how often a word occurs in the small text that word2vec learns: the
// vocabulary is two groups of words that only occur together, in each the first word
// most often.
func frequency(w int) float64 { return 1 / float64(1+w/2) }

// pairs draws centre words and a word that stands beside each: another word of its
// group. The even words are one group, the odd ones the other.
func pairs(rng *rand.Rand, t graph.Type, words int) (centre, context graph.Value) {
	draw := func(allowed func(w int) bool) float64 {
		total := 0.0
		for w := range words {
			if allowed(w) {
				total += frequency(w)
			}
		}
		u, last := total*rng.Float64(), -1
		for w := range words {
			if allowed(w) {
				last = w
				if u -= frequency(w); u < 0 {
					break
				}
			}
		}
		return float64(last)
	}
	centre = build.Drawn(t, func() float64 { return draw(func(int) bool { return true }) })
	context = build.Computed(t, func(p int) float64 {
		c := int(centre.Data[p])
		alone := words <= 2 || words == 3 && c == 1
		return draw(func(w int) bool { return w%2 == c%2 && (w != c || alone) })
	})
	return centre, context
}

// words adds the inputs of a skip-gram and makes its examples.
func (m *Model) words(s Settings, dt graph.DType) (l SkipGram, c, o *graph.Node) {
	c, o = m.Graph.Input("c", graph.I64, s.ax("i")), m.Graph.Input("o", graph.I64, s.ax("i"))
	m.Examples = func(rng *rand.Rand) graph.Values {
		centre, context := pairs(rng, c.Type(), s.Int("w"))
		return graph.Values{c: centre, o: context}
	}
	return NewSkipGram(m.Graph, dt, s.ax("w"), s.ax("m")), c, o
}

var skipGramSoftmax = Builder{
	Name:            "word2vec",
	Title:           "word2vec: skip-gram with full softmax",
	Notes:           "word embeddings: predict the neighbours of a centre word",
	Formula:         "p(o | c) = exp(u_o·v_c) / Σ_w exp(u_w·v_c);  loss = −mean log p(o | c)",
	Hyperparameters: []Hyperparameter{sizePairs, sizeWords, sizeVector},
	make: func(s Settings, dt graph.DType, m *Model) {
		l, c, o := m.words(s, dt)
		scores := l.Scores(c)
		m.Output = ops.Softmax(scores, -1).As("p")
		m.Loss = nn.CrossEntropy(scores, o).As("loss")
	},
}

var skipGramNegative = Builder{
	Name:            "word2vec-negative",
	Title:           "word2vec: skip-gram with negative sampling",
	Notes:           "word embeddings: predict the neighbours of a centre word, without a sum over all words",
	Formula:         "loss = −mean (log σ(u_o·v_c) + Σₖ log σ(−u_n·v_c)),  P(n = w) ∝ counts_w^¾",
	Hyperparameters: []Hyperparameter{sizePairs, sizeWords, sizeVector, {Name: "k", Default: 3, Doc: "words drawn for each pair", Kind: Count}},
	make: func(s Settings, dt graph.DType, m *Model) {
		l, c, o := m.words(s, dt)
		n := negatives(m.Graph, dt, s.ax("w"), frequency, []graph.Axis{s.ax("i"), s.ax("k")})
		m.Loss = l.NegativeSampling(c, o, n).As("loss")
		m.Output = ops.Softmax(l.Scores(c), -1).As("p")
	},
}
