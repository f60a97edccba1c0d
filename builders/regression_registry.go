package builders

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// regression: least squares and its relatives.
var regression = []Builder{
	relu1D, ols, weightedSquares, minimumNorm, ridge, ridgeObservations, ridgeFeatures, lasso, principalComponents, transferred,
}

var (
	sizeObservations = Hyperparameter{Name: "n", Default: 16, Doc: "observations in a batch", Kind: Count}
	sizeLambda       = Hyperparameter{Name: "lambda", Default: 1, Doc: "strength λ of the penalty"}
	sizeSample       = Hyperparameter{Name: "sample", Default: 1, Doc: "which sample of observations is the data set, the same in every step; 0 draws new ones for each", Kind: Natural}
)

var relu1D = Builder{
	Name:    "regression-relu",
	Title:   "1-D ReLU net",
	Notes:   "what neural nets can express: elbows and dead ReLUs",
	Formula: "ŷ(x) = Σₕ vₕ·max(0, wₕ·x + bₕ) + c;  loss = meanᵢ (ŷᵢ − yᵢ)²",
	Hyperparameters: []Hyperparameter{{Name: "n", Default: 32, Doc: "points in a batch", Kind: Count},
		{Name: "h", Default: 8, Doc: "units: at most as many elbows", Kind: Count}},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, i := m.Graph, graph.Ax("i", s.Int("n"))
		x, y := g.Input("x", dt, i), g.Input("y", dt, i)
		m.Output = NewReLU1D(g, dt, graph.Ax("h", s.Int("h"))).Of(x)
		m.Loss = nn.SquaredError(m.Output, y).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			xs := build.Drawn(x.Type(), func() float64 { return 4*rng.Float64() - 2 })
			return graph.Values{x: xs, y: build.Computed(y.Type(), func(i int) float64 { return math.Sin(2 * xs.Data[i]) })}
		}
	},
}

// linear adds the data of a linear model and its weights, which start at 0.
func linear(m *Model, s Settings, dt graph.DType) (x, w, y *graph.Node) {
	i, d := graph.Ax("i", s.Int("n")), graph.Ax("d", s.Int("d"))
	x, y = m.Graph.Input("X", dt, i, d), m.Graph.Input("y", dt, i)
	return x, m.Graph.Param("w", dt, d), y
}

// regress makes a linear model the model's. The task is y = X·w* with a little
// noise, where the features have spreads of 1, ½, ⅓, …
func (m *Model) regress(r Regression) {
	m.Output, m.Loss = r.Prediction, r.Loss
	m.Examples = func(rng *rand.Rand) graph.Values {
		d := r.X.Dim(1)
		xs := build.Computed(r.X.Type(), func(i int) float64 { return rng.NormFloat64() / float64(1+i%d) })
		return graph.Values{r.X: xs, r.Target: build.Computed(r.Target.Type(), func(i int) float64 {
			y := 0.1 * rng.NormFloat64()
			for j := range d {
				y += xs.Data[i*d+j] * 2 * math.Cos(float64(j))
			}
			return y
		})}
	}
}

// penalised makes a form of ridge regression.
func penalised(form func(m *Model, x, w, y, λ *graph.Node) Regression) func(Settings, graph.DType, *Model) {
	return func(s Settings, dt graph.DType, m *Model) {
		if x, w, y, λ := m.penalty(s, dt); λ != nil {
			m.regress(form(m, x, w, y, λ))
		}
	}
}

// penalty adds the data of a linear model, its weights, and the strength of a penalty; λ is nil
// after a mistake.
func (m *Model) penalty(s Settings, dt graph.DType) (x, w, y, λ *graph.Node) {
	if s["lambda"] < 0 {
		m.Graph.Fail(m.Builder.Name, fmt.Errorf("lambda = %v: want at least 0", s["lambda"]))
		return nil, nil, nil, nil
	}
	x, w, y = linear(m, s, dt)
	return x, w, y, m.Graph.Scalar("λ", s["lambda"], dt)
}

func leastSquares(s Settings, dt graph.DType, m *Model) { m.regress(LeastSquares(linear(m, s, dt))) }

// descends makes the model's examples one data set, as the settings have it, and keeps what gradient
// descent from zero comes to beside the weights, as the state w⁺.
func (m *Model) descends(r Regression, s Settings, λ *graph.Node) {
	m.regress(r)
	if !r.Weights.IsValid() {
		return
	}
	goal := m.Graph.State("w⁺", r.Weights.DType(), r.Weights.Shape().Axes()...)
	m.Step = graph.Step{m.Graph.Assign(goal, LeastNorm(r.X, r.Target, λ))}
	if sample := s.Int("sample"); sample > 0 {
		drawn := m.Examples
		m.Examples = func(*rand.Rand) graph.Values { return drawn(rand.New(rand.NewPCG(uint64(sample), 0))) }
	}
}

var ols = Builder{
	Name:            "regression-ols",
	Title:           "ordinary least squares",
	Notes:           "regularisation in least squares",
	Formula:         "ŷ = X·w;  loss = ‖ŷ − y‖²",
	Hyperparameters: []Hyperparameter{sizeObservations, sizeD},
	make:            leastSquares,
}

var minimumNorm = Builder{
	Name:    "regression-minimum-norm",
	Title:   "least squares with more weights than observations",
	Notes:   "implicit regularisation: gradient descent from zero",
	Formula: "ŷ = X·w, n < d;  loss = ‖ŷ − y‖²;  by gradient descent from w = 0 on one data set w → w⁺ = Xᵀ(XXᵀ)⁻¹y",
	Hyperparameters: []Hyperparameter{{Name: "n", Default: 4, Doc: "observations", Kind: Count},
		{Name: "d", Default: 8, Doc: "features of an observation: more than observations", Kind: Count}, sizeSample},
	Descent: func(s Settings) float64 { return 0.4 / s["n"] },
	make: func(s Settings, dt graph.DType, m *Model) {
		if s["d"] <= s["n"] {
			m.Graph.Fail(m.Builder.Name, &graph.Mistake{Problem: fmt.Sprintf("d = %v features for n = %v observations: want more features than observations", s["d"], s["n"]), Fix: "regression-ols takes any"})
			return
		}
		m.descends(LeastSquares(linear(m, s, dt)), s, m.Graph.Constant(dt, []float64{0}))
	},
}

var ridge = Builder{
	Name:            "regression-ridge",
	Title:           "ridge regression",
	Notes:           "regularisation in least squares",
	Formula:         "ŷ = X·w;  loss = ‖ŷ − y‖² + λ‖w‖²",
	Hyperparameters: []Hyperparameter{sizeObservations, sizeD, sizeLambda},
	make:            penalised(func(_ *Model, x, w, y, λ *graph.Node) Regression { return Ridge(x, w, y, λ) }),
}

var ridgeObservations = Builder{
	Name:            "regression-ridge-observations",
	Title:           "ridge regression by fake observations",
	Notes:           "regularisation in least squares: adding entries to the data",
	Formula:         "X̃ = [X; √λ·I], ỹ = [y; 0];  loss = ‖X̃·w − ỹ‖²",
	Hyperparameters: []Hyperparameter{sizeObservations, sizeD, sizeLambda},
	make:            penalised(func(_ *Model, x, w, y, λ *graph.Node) Regression { return RidgeObservations(x, w, y, λ) }),
}

var ridgeFeatures = Builder{
	Name:            "regression-ridge-features",
	Title:           "ridge regression by extra features",
	Notes:           "regularisation in least squares: adding features to the data",
	Formula:         "X̌ = [X √λ·I], η = [w; ξ];  loss = ‖X̌·η − y‖²;  by gradient descent from η = 0 on one data set w → w⁺ = Xᵀ(XXᵀ + λI)⁻¹y",
	Hyperparameters: []Hyperparameter{sizeObservations, sizeD, sizeLambda, sizeSample},
	Descent:         func(s Settings) float64 { return 0.5 / (s["n"] + s["lambda"]) },
	make: func(s Settings, dt graph.DType, m *Model) {
		x, w, y, λ := m.penalty(s, dt)
		if λ == nil {
			return
		}
		ξ := m.Graph.Param("ξ", dt, graph.Ax("d", s.Int("n")))
		m.descends(RidgeFeatures(x, w, ξ, y, λ), s, λ)
	},
}

var principalComponents = Builder{
	Name:    "regression-pcr",
	Title:   "principal component regression",
	Notes:   "applications of unsupervised learning",
	Formula: "x̃ = x − x̄, z = x̃·v;  ŷ = z·w + b;  v ← orthonormalise(x̃ᵀ·z)",
	Hyperparameters: []Hyperparameter{{Name: "n", Default: 32, Doc: "observations in a batch", Kind: Count},
		{Name: "d", Default: 6, Doc: "features of an observation", Kind: Count},
		{Name: "k", Default: 2, Doc: "components that are kept", Kind: Count}},
	make: func(s Settings, dt graph.DType, m *Model) {
		n, d, k := s.Int("n"), s.Int("d"), s.Int("k")
		if most := min(d, n-1); k > most {
			m.Graph.Fail(m.Builder.Name, fmt.Errorf("k = %d components of %d observations with %d features: want at most %d", k, n, d, most))
			return
		}
		g, i, axis := m.Graph, graph.Ax("i", n), graph.Ax("d", d)
		x, y := g.Input("x", dt, i, axis), g.Input("y", dt, i)
		v := g.State("v", dt, axis, graph.Ax("k", k)).Init(initial.Orthogonal(1))
		centred, z := Components(x, v)
		w, b := g.Param("w", dt, graph.Ax("k", k)), g.Param("b", dt)
		m.Output = ops.Add(timesVector(z, w), b).As("ŷ")
		m.Loss = nn.SquaredError(m.Output, y).As("loss")
		m.Step = graph.Step{g.Assign(v, SubspaceStep(centred, z))}
		m.Examples = func(rng *rand.Rand) graph.Values { return spread(rng, x, y, k) }
	},
}

// spread draws observations that vary most along k directions, each a mixture of
// features, and targets that depend on these.
func spread(rng *rand.Rand, x, y *graph.Node, k int) graph.Values {
	n, d := x.Dim(0), x.Dim(1)
	hidden := make([]float64, n*k)
	for i := range hidden {
		hidden[i] = rng.NormFloat64() * float64(k-i%k) // the first direction varies most
	}
	xs := build.Computed(x.Type(), func(at int) float64 {
		i, j := at/d, at%d
		v := 0.1*rng.NormFloat64() + 1 // not centred
		for c := range k {
			v += hidden[i*k+c] * math.Cos(math.Pi*(float64(j)+0.5)*float64(c+1)/float64(d))
		}
		return v
	})
	return graph.Values{x: xs, y: build.Computed(y.Type(), func(i int) float64 {
		v := 0.1*rng.NormFloat64() + 0.5
		for c := range k {
			v += hidden[i*k+c]
		}
		return v
	})}
}

var transferred = Builder{
	Name:    "regression-transfer",
	Title:   "features of one model in another",
	Notes:   "feature engineering; pre-trained networks",
	Formula: "φ = max(0, x·W + a);  ŷ = φ·w + b, φ from another task;  loss = meanᵢ (ŷᵢ − yᵢ)²",
	Hyperparameters: []Hyperparameter{{Name: "n", Default: 32, Doc: "observations in a batch", Kind: Count}, sizeD,
		{Name: "h", Default: 8, Doc: "features that are learnt", Kind: Count},
		{Name: "task", Default: 0, Doc: "which of the tasks that the same features solve", Kind: Natural},
		{Name: "frozen", Default: 0, Doc: "whether the features are kept as they are", Kind: Flag}},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, i, d, h := m.Graph, graph.Ax("i", s.Int("n")), graph.Ax("d", s.Int("d")), graph.Ax("h", s.Int("h"))
		x, y := g.Input("x", dt, i, d), g.Input("y", dt, i)
		var features nn.Linear
		if s.Is("frozen") {
			features = nn.NewFrozenLinear(g, "features", dt, d, h)
		} else {
			features = nn.NewLinear(g, "features", dt, d, h)
		}
		φ := ops.ReLU(features.Of(x)).As("φ")
		head := nn.NewLinear(g, "head", dt, h, graph.Ax("out", 1))
		m.Output = ops.Squeeze(head.Of(φ), -1).As("ŷ")
		m.Loss = nn.SquaredError(m.Output, y).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values { return taught(rng, x, y, s.Int("task")) }
	},
}

// taught draws observations, and targets that a teacher makes of four features,
// which are the same in every task.
func taught(rng *rand.Rand, x, y *graph.Node, task int) graph.Values {
	const hidden = 4
	n, d := x.Dim(0), x.Dim(1)
	teacher, head := rand.New(rand.NewPCG(7, 0)), rand.New(rand.NewPCG(8, uint64(task)))
	w, v := make([]float64, d*hidden), make([]float64, hidden)
	for i := range w {
		w[i] = teacher.NormFloat64() / math.Sqrt(float64(d))
	}
	for i := range v {
		v[i] = 2 * head.NormFloat64()
	}
	xs := normals(rng, x.Type())
	ys := graph.NewValue(y.Type())
	for i := range n {
		for h := range hidden {
			z := 0.0
			for j := range d {
				z += xs.Data[i*d+j] * w[j*hidden+h]
			}
			ys.Data[i] += v[h] * max(0, z)
		}
		ys.Data[i] = y.DType().Round(ys.Data[i])
	}
	return graph.Values{x: xs, y: ys}
}
