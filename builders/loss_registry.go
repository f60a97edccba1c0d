package builders

import (
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// losses: objectives, each over a linear map that has them learn another.
var losses = []Builder{
	squaredErrorLoss, huberLoss, crossEntropyLoss, binaryCrossEntropyLoss, klLoss, cosineLoss, cosineEmbeddingLoss, infoNCELoss,
}

var lossSizes = []Hyperparameter{
	{Name: "n", Default: 8, Doc: "examples in a batch", Kind: Count},
	{Name: "d", Default: 3, Doc: "features of an example", Kind: Count},
	{Name: "c", Default: 3, Doc: "outputs of the linear map", Kind: Count},
}

// linearMap holds the common part of the models of losses: inputs x[i d] and the map that learns.
type linearMap struct {
	g    *graph.Graph
	dt   graph.DType
	i, c graph.Axis
	x, y *graph.Node
}

func newLinearMap(s Settings, dt graph.DType, m *Model) linearMap {
	l := linearMap{g: m.Graph, dt: dt, i: graph.Ax("i", s.Int("n")), c: graph.Ax("c", s.Int("c"))}
	d := graph.Ax("d", s.Int("d"))
	l.x = l.g.Input("x", dt, l.i, d)
	l.y = nn.NewLinear(l.g, "linear", dt, d, l.c).Of(l.x).As("z")
	m.Output = l.y
	return l
}

// examples draws inputs, and fills the targets with the results of the map to be learnt.
func (l linearMap) examples(m *Model, fill func(rng *rand.Rand, z []float64, row int, f graph.Values)) {
	m.Examples = func(rng *rand.Rand) graph.Values {
		x := normals(rng, l.x.Type())
		f := graph.Values{l.x: x}
		n, d, c := l.i.Size, l.x.Dim(1), l.c.Size
		for i := range n {
			z := make([]float64, c)
			for k := range z {
				for a := range d {
					z[k] += 2 * math.Cos(float64(1+a*c+2*k)) * x.Data[i*d+a]
				}
			}
			fill(rng, z, i, f)
		}
		return f
	}
}

// put writes a row of a target that is made when it is first written.
func put(f graph.Values, to *graph.Node, row int, values ...float64) {
	if _, ok := f[to]; !ok {
		f[to] = graph.NewValue(to.Type())
	}
	for k, v := range values {
		f[to].Data[row*len(values)+k] = to.DType().Round(v)
	}
}

// logProbabilities returns z minus their log-sum-exp.
func logProbabilities(z []float64) []float64 {
	most, sum := z[0], 0.0
	for _, v := range z {
		most = max(most, v)
	}
	for _, v := range z {
		sum += math.Exp(v - most)
	}
	out := make([]float64, len(z))
	for k, v := range z {
		out[k] = v - most - math.Log(sum)
	}
	return out
}

// largestPlace returns the place of the largest value, the first of equal ones.
func largestPlace(z []float64) int {
	best := 0
	for k, v := range z {
		if v > z[best] {
			best = k
		}
	}
	return best
}

var squaredErrorLoss = Builder{
	Name:            "loss-squared-error",
	Title:           "squared error",
	Notes:           "optimisation and least squares",
	Formula:         "loss = mean (y − target)²",
	Hyperparameters: lossSizes,
	make: func(s Settings, dt graph.DType, m *Model) {
		l := newLinearMap(s, dt, m)
		target := l.g.Input("target", dt, l.i, l.c)
		m.Loss = nn.SquaredError(l.y, target).As("loss")
		l.examples(m, func(rng *rand.Rand, z []float64, row int, f graph.Values) { put(f, target, row, z...) })
	},
}

var huberLoss = Builder{
	Name:            "loss-huber",
	Title:           "Huber's loss",
	Notes:           "losses: robust regression",
	Formula:         "c = clip(y − target, ±δ);  loss = mean c·(y − target − c/2)",
	Hyperparameters: append(lossSizes[:3:3], Hyperparameter{Name: "delta", Default: 1, Doc: "distance δ from which errors count linearly"}),
	make: func(s Settings, dt graph.DType, m *Model) {
		l := newLinearMap(s, dt, m)
		target := l.g.Input("target", dt, l.i, l.c)
		m.Loss = nn.Huber(l.y, target, l.g.Scalar("δ", s["delta"], dt)).As("loss")
		l.examples(m, func(rng *rand.Rand, z []float64, row int, f graph.Values) {
			if rng.IntN(10) == 0 {
				z[rng.IntN(len(z))] += 8 // an outlier
			}
			put(f, target, row, z...)
		})
	},
}

var crossEntropyLoss = Builder{
	Name:    "loss-cross-entropy",
	Title:   "cross-entropy",
	Notes:   "label smoothing",
	Formula: "t = (1 − ε)·label + ε/C;  loss = meanᵢ −Σ_c w_c tᵢ_c log softmax_c(zᵢ)",
	Hyperparameters: append(lossSizes[:3:3],
		Hyperparameter{Name: "smoothing", Default: 0.1, Doc: "share ε of the uniform distribution"},
		Hyperparameter{Name: "labels", Default: 0, Doc: "what the labels are", Kind: Choice, Choices: []string{"classes", "probabilities"}},
		Hyperparameter{Name: "weighted", Default: 0, Doc: "whether classes have weights", Kind: Flag},
		Hyperparameter{Name: "ignored", Default: 0, Doc: "whether a quarter of the classes is not known", Kind: Flag}),
	make: func(s Settings, dt graph.DType, m *Model) {
		l := newLinearMap(s, dt, m)
		options := []nn.CrossEntropyOption{nn.Smoothed(l.g.Scalar("ε", s["smoothing"], dt))}
		if s.Is("weighted") {
			w := l.g.ConstantFunc(dt, func(w []float64) {
				for k := range w {
					w[k] = 1 + float64(k)/2
				}
			}, l.c)
			options = append(options, nn.Weighted(w.As("w")))
		}
		if s.Is("ignored") {
			options = append(options, nn.Ignoring(-1))
		}
		soft := s.Int("labels") == 1
		var labels *graph.Node
		if soft {
			labels = l.g.Input("label", dt, l.i, l.c)
		} else {
			labels = l.g.Input("label", graph.I64, l.i)
		}
		m.Loss = nn.CrossEntropy(l.y, labels, options...).As("loss")
		l.examples(m, func(rng *rand.Rand, z []float64, row int, f graph.Values) {
			switch {
			case soft:
				for k, v := range logProbabilities(z) {
					z[k] = math.Exp(v)
				}
				put(f, labels, row, z...)
			case s.Is("ignored") && rng.IntN(4) == 0:
				put(f, labels, row, -1)
			default:
				put(f, labels, row, float64(largestPlace(z)))
			}
		})
	},
}

var binaryCrossEntropyLoss = Builder{
	Name:            "loss-binary-cross-entropy",
	Title:           "binary cross-entropy",
	Notes:           "classification by the logistic loss",
	Formula:         "loss = mean p·y·softplus(−z) + (1 − y)·softplus(z)",
	Hyperparameters: append(lossSizes[:3:3], Hyperparameter{Name: "positive", Default: 1, Doc: "weight p of positive examples"}),
	make: func(s Settings, dt graph.DType, m *Model) {
		l := newLinearMap(s, dt, m)
		y := l.g.Input("y", dt, l.i, l.c)
		m.Loss = nn.BinaryCrossEntropy(l.y, y, l.g.Scalar("p", s["positive"], dt)).As("loss")
		l.examples(m, func(rng *rand.Rand, z []float64, row int, f graph.Values) {
			for k, v := range z {
				z[k] = 0
				if v > 0 {
					z[k] = 1
				}
			}
			put(f, y, row, z...)
		})
	},
}

var klLoss = Builder{
	Name:            "loss-kl",
	Title:           "Kullback–Leibler divergence",
	Notes:           "losses: distance between distributions",
	Formula:         "loss = meanᵢ Σ_c p_c (log p_c − log softmax_c(zᵢ))",
	Hyperparameters: lossSizes,
	make: func(s Settings, dt graph.DType, m *Model) {
		l := newLinearMap(s, dt, m)
		logP := l.g.Input("log_p", dt, l.i, l.c)
		m.Loss = nn.KLDivergence(logP, ops.LogSoftmax(l.y, -1)).As("loss")
		l.examples(m, func(rng *rand.Rand, z []float64, row int, f graph.Values) { put(f, logP, row, logProbabilities(z)...) })
	},
}

var cosineLoss = Builder{
	Name:            "loss-cosine",
	Title:           "cosine loss",
	Notes:           "losses: similarity of embeddings",
	Formula:         "loss = meanᵢ 1 − zᵢ·tᵢ/(‖zᵢ‖‖tᵢ‖)",
	Hyperparameters: lossSizes,
	make: func(s Settings, dt graph.DType, m *Model) {
		l := newLinearMap(s, dt, m)
		target := l.g.Input("t", dt, l.i, l.c)
		m.Loss = nn.CosineLoss(l.y, target).As("loss")
		l.examples(m, func(rng *rand.Rand, z []float64, row int, f graph.Values) { put(f, target, row, z...) })
	},
}

var cosineEmbeddingLoss = Builder{
	Name:            "loss-cosine-embedding",
	Title:           "cosine embedding loss",
	Notes:           "losses: similarity of embeddings",
	Formula:         "loss = meanᵢ (1 − cosᵢ where the same, max(cosᵢ − margin, 0) elsewhere)",
	Hyperparameters: append(lossSizes[:3:3], Hyperparameter{Name: "margin", Default: 0, Doc: "cosine below which strangers are far enough"}),
	make: func(s Settings, dt graph.DType, m *Model) {
		l := newLinearMap(s, dt, m)
		other, same := l.g.Input("t", dt, l.i, l.c), l.g.Input("same", graph.Bool, l.i)
		m.Loss = nn.CosineEmbedding(l.y, other, same, l.g.Scalar("margin", s["margin"], dt)).As("loss")
		l.examples(m, func(rng *rand.Rand, z []float64, row int, f graph.Values) {
			sign := float64(2*rng.IntN(2) - 1)
			for k := range z {
				z[k] *= sign
			}
			put(f, other, row, z...)
			put(f, same, row, max(sign, 0))
		})
	},
}

var infoNCELoss = Builder{
	Name:            "loss-infonce",
	Title:           "InfoNCE",
	Notes:           "self-supervision: contrastive objectives",
	Formula:         "sᵢⱼ = cos(qᵢ, kⱼ)/τ;  loss = meanᵢ −log softmaxⱼ(sᵢⱼ) at j = i",
	Hyperparameters: append(lossSizes[:3:3], Hyperparameter{Name: "tau", Default: 0.3, Doc: "temperature τ"}),
	make: func(s Settings, dt graph.DType, m *Model) {
		l := newLinearMap(s, dt, m)
		key := l.g.Input("k", dt, l.i, l.c)
		m.Loss = nn.InfoNCE(l.y, key, l.g.Scalar("τ", s["tau"], dt)).As("loss")
		l.examples(m, func(rng *rand.Rand, z []float64, row int, f graph.Values) {
			for k := range z {
				z[k] += 0.1 * rng.NormFloat64()
			}
			put(f, key, row, z...)
		})
	},
}
