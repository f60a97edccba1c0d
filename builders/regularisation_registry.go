package builders

import (
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// regularisation: noise, penalties and augmentation.
var regularisation = append([]Builder{
	unregularised, dropout, dropConnect, multiplicativeNoise, stochasticDepth, labelSmoothing, l2Penalty, ensemble,
}, augmentation...)

var (
	sizePoints = Hyperparameter{Name: "n", Default: 16, Doc: "points in a batch", Kind: Count}
	sizeUnits  = Hyperparameter{Name: "hidden", Default: 8, Doc: "hidden units of a layer", Kind: Count}
	sizeRate   = Hyperparameter{Name: "p", Default: 0.2, Doc: "probability of dropping; 0 in evaluation", Training: true}
	sizePlane  = Hyperparameter{Name: "d", Default: 2, Doc: "numbers of a point", Kind: Count}
	sizeMoons  = Hyperparameter{Name: "classes", Default: 2, Doc: "classes; the model's own examples are of at most 2", Kind: Count}
)

// regularised holds the differences of a model of this family from the plain residual net that all
// of them share; nil is no difference.
type regularised struct {
	layer  func(l nn.Linear) nn.Linear                 // the linear map in a block
	units  func(h *graph.Node) *graph.Node             // the output of a block, after relu
	branch func(i, n int, f *graph.Node) *graph.Node   // the whole of block i of n
	loss   func(scores, label *graph.Node) *graph.Node // in place of cross-entropy
	adds   func(weights []*graph.Node) *graph.Node     // to the loss
}

// onMoons makes the builder of a net that tells two moons apart:
//
//	h ← h + relu(W·h + b) for each block
func onMoons(b Builder, with func(m *Model, dt graph.DType) regularised) Builder {
	b.Hyperparameters = append([]Hyperparameter{sizePoints, sizePlane, sizeMoons, sizeUnits, sizeBlocks}, b.Hyperparameters...)
	b.make = func(s Settings, dt graph.DType, m *Model) {
		g, hidden := m.Graph, graph.Ax("h", s.Int("hidden"))
		x := g.Input("x", dt, graph.Ax("n", s.Int("n")), graph.Ax("d", s.Int("d")))
		label := g.Input("label", graph.I64, graph.Ax("n", s.Int("n")))
		r := with(m, dt)
		stem := nn.NewLinear(g, "stem", dt, build.Last(x), hidden)
		weights := []*graph.Node{stem.W}
		h := ops.ReLU(stem.Of(x)).As("h₀")
		depth := m.atMost("depth", s.Int("depth"), mostLayers)
		for i := range depth {
			l := nn.NewLinear(g, build.Numbered("block", i), dt, hidden, graph.Ax("", hidden.Size), initial.He())
			weights = append(weights, l.W)
			h = ops.Add(h, r.block(i, depth, l, h)).As(build.Indexed("h", i))
		}
		head := nn.NewLinear(g, "head", dt, hidden, classesOf(s))
		weights = append(weights, head.W)
		m.Output = head.Of(h).As("scores")
		if r.loss == nil {
			r.loss = func(scores, label *graph.Node) *graph.Node { return nn.CrossEntropy(scores, label) }
		}
		m.Loss = r.loss(m.Output, label)
		if r.adds != nil {
			m.Loss = ops.Add(m.Loss.As("error"), r.adds(weights))
		}
		m.Loss = m.Loss.As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			points, labels := twoMoons(rng, x.Type(), label.Type(), s.Int("classes"))
			return graph.Values{x: points, label: labels}
		}
	}
	return b
}

// block returns the branch of block i of n, which the skip goes past.
func (r regularised) block(i, n int, l nn.Linear, h *graph.Node) *graph.Node {
	defer h.Graph().Scope(build.Numbered("block", i))()
	l.Name = ""
	if r.layer != nil {
		l = r.layer(l)
	}
	f := ops.ReLU(l.Of(h)).As("f")
	if r.units != nil {
		f = r.units(f).As("f̃")
	}
	if r.branch != nil {
		f = r.branch(i, n, f).As("f̃")
	}
	return f
}

// dial adds the scalar input called symbol, with a setting, from lo to hi, as its
// default.
func (m *Model) dial(symbol, setting string, dt graph.DType, lo, hi float64) *graph.Node {
	v := m.Settings[setting]
	if v < lo || v > hi {
		return m.Graph.Fail(m.Builder.Name, fmt.Errorf("%s = %v: want a number from %v to %v", setting, v, lo, hi))
	}
	return m.Graph.Scalar(symbol, v, dt)
}

var unregularised = onMoons(Builder{
	Name:    "no-regularisation",
	Title:   "the plain net that regularisers are compared with",
	Notes:   "dropout and its relatives: what they are added to",
	Formula: "h ← h + f,  f = relu(W·h + b);  loss = mean −log softmax(scores)[label]",
}, func(*Model, graph.DType) regularised { return regularised{} })

var dropout = onMoons(Builder{
	Name:            "dropout",
	Title:           "dropout of hidden units",
	Notes:           "dropout",
	Formula:         "h ← h + m ⊙ f/(1 − p),  m ~ Bernoulli(1 − p) for each unit of each example",
	Hyperparameters: []Hyperparameter{sizeRate},
}, func(m *Model, dt graph.DType) regularised {
	p := m.dial("p", "p", dt, 0, 1)
	return regularised{units: func(f *graph.Node) *graph.Node { return nn.Dropout(f, p) }}
})

var dropConnect = onMoons(Builder{
	Name:            "drop-connect",
	Title:           "drop-connect: dropout of weights",
	Notes:           "dropout: methods that resemble it",
	Formula:         "f = relu((m ⊙ W/(1 − p))·h + b),  m ~ Bernoulli(1 − p) for each weight",
	Hyperparameters: []Hyperparameter{sizeRate},
}, func(m *Model, dt graph.DType) regularised {
	p := m.dial("p", "p", dt, 0, 1)
	return regularised{layer: func(l nn.Linear) nn.Linear { return nn.DropConnect(l, p) }}
})

var multiplicativeNoise = onMoons(Builder{
	Name:    "multiplicative-noise",
	Title:   "multiplicative noise on hidden units",
	Notes:   "dropout: methods that resemble it",
	Formula: "h ← h + m ⊙ f,  m = 1 + σ·(2u − 1), u uniform in [0, 1): for σ = 1 the noise u over its mean;  or m = 1 + σ·ε, ε ~ N(0, 1)",
	Hyperparameters: []Hyperparameter{
		{Name: "sigma", Default: 1, Doc: "strength of the noise: 1 for noise between 0 and 1 over its mean, as in the notes; 0 in evaluation", Training: true},
		{Name: "kind", Default: 1, Doc: "distribution of the noise", Kind: Choice, Choices: []string{"gaussian", "uniform"}},
	},
}, func(m *Model, dt graph.DType) regularised {
	σ := m.dial("σ", "sigma", dt, 0, 100)
	noise := nn.GaussianNoise
	if m.Settings.Int("kind") == 1 {
		noise = nn.UniformNoise
	}
	return regularised{units: func(f *graph.Node) *graph.Node { return noise(f, σ) }}
})

var stochasticDepth = onMoons(Builder{
	Name:            "stochastic-depth",
	Title:           "stochastic depth: dropout of residual branches",
	Notes:           "stochastic depth",
	Formula:         "h ← h + b/(1 − pₗ)·f,  b ~ Bernoulli(1 − pₗ) for each example,  pₗ = l/L·p",
	Hyperparameters: []Hyperparameter{sizeRate},
}, func(m *Model, dt graph.DType) regularised {
	p := m.dial("p", "p", dt, 0, 1)
	return regularised{branch: func(i, n int, f *graph.Node) *graph.Node {
		return nn.StochasticDepth(f, nn.DropAt(i, n, p).As(build.Indexed("p", i)))
	}}
})

var labelSmoothing = onMoons(Builder{
	Name:            "label-smoothing",
	Title:           "label smoothing",
	Notes:           "label smoothing",
	Formula:         "loss = mean −Σₖ qₖ·log softmax(scores)ₖ,  q = (1 − ε)·onehot(label) + ε/K",
	Hyperparameters: []Hyperparameter{{Name: "epsilon", Default: 0.1, Doc: "probability that all classes share; 0 in evaluation", Training: true}},
}, func(m *Model, dt graph.DType) regularised {
	ε := m.dial("ε", "epsilon", dt, 0, 1)
	return regularised{loss: func(scores, label *graph.Node) *graph.Node {
		return nn.CrossEntropy(scores, label, nn.Smoothed(ε))
	}}
})

var l2Penalty = onMoons(Builder{
	Name:            "l2-penalty",
	Title:           "penalty on the size of weights",
	Notes:           "explicit regularisation: weight decay",
	Formula:         "loss = mean −log softmax(scores)[label] + λ·Σ ‖W‖² over all weights",
	Hyperparameters: []Hyperparameter{{Name: "lambda", Default: 0.002, Doc: "strength of the penalty; 0 in evaluation", Training: true}},
}, func(m *Model, dt graph.DType) regularised {
	λ := m.dial("λ", "lambda", dt, 0, 1e6)
	return regularised{adds: func(weights []*graph.Node) *graph.Node {
		return ops.Mul(λ, nn.SquaredNorm(weights...)).As("penalty")
	}}
})

var ensemble = Builder{
	Name:    "ensemble",
	Title:   "ensemble of nets",
	Notes:   "dropout: the ensemble that it imitates",
	Formula: "f̄ = meanᵢ fᵢ(x);  (f̄ − y)² = meanᵢ (fᵢ − y)² − meanᵢ (fᵢ − f̄)²",
	Hyperparameters: []Hyperparameter{
		sizePoints, sizePlane, sizeUnits,
		{Name: "members", Default: 3, Doc: "nets with parameters of their own", Kind: Count},
		{Name: "train", Doc: "what the loss is the error of", Kind: Choice, Choices: []string{"members", "average"}},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, hidden, one := m.Graph, graph.Ax("h", s.Int("hidden")), graph.Ax("y", 1)
		x := g.Input("x", dt, graph.Ax("n", s.Int("n")), graph.Ax("d", s.Int("d")))
		y := g.Input("y", dt, graph.Ax("n", s.Int("n")), one)
		e := nn.NewEnsemble(g, m.atMost("members", s.Int("members"), 1000), func(int) nn.Layer {
			return Field{In: nn.NewLinear(g, "in", dt, build.Last(x), hidden), Out: nn.NewLinear(g, "out", dt, hidden, one)}
		})
		f := e.Each(x)
		m.Output = nn.AverageOf(f...).As("f̄")
		m.Loss = nn.SquaredError(m.Output, y)
		if s.Int("train") == 0 { // (f̄ − y)² and what the members differ by
			m.Loss = ops.Add(m.Loss.As("error"), nn.Ambiguity(f...).As("ambiguity"))
		}
		m.Loss = m.Loss.As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			points, labels := twoMoons(rng, x.Type(), y.Type(), 2)
			return graph.Values{x: points, y: labels}
		}
	},
}
