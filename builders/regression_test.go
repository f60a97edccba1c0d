package builders_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"gonum.org/v1/gonum/mat"
)

// observations are the data of a linear model, for the solver.
func observations(m *builders.Model, batch graph.Values) linear.LeastSquares {
	x, y := batch[m.Graph.Lookup("X")], batch[m.Graph.Lookup("y")]
	return linear.LeastSquares{X: x.Data, Y: y.Data, N: len(y.Data), D: x.Type.Shape.Dim(1)}
}

// TestRidgeIsFakeObservations: the two losses and their gradients are equal for any
// weights and λ.
func TestRidgeIsFakeObservations(t *testing.T) {
	var loss, gradient [2][]float64
	for i, name := range []string{"regression-ridge", "regression-ridge-observations"} {
		m := layertest.Build(t, name, builders.Settings{"lambda": 0.7})
		w := m.Graph.Lookup("w")
		feed := graph.Values{w: {Type: w.Type(), Data: []float64{1, -2, 0.5, 3}}}
		for in, v := range m.Examples(rand.New(rand.NewPCG(1, 1))) {
			feed[in] = v
		}
		out := layertest.Values(t, feed, m.Loss, grad.Of(m.Loss, w)[0])
		loss[i], gradient[i] = out[0].Data, out[1].Data
	}
	if err := reftest.Near(loss[0], loss[1], 1e-12*loss[0][0]); err != nil {
		t.Error(err)
	}
	if err := reftest.Near(gradient[0], gradient[1], 1e-12*reftest.Largest(gradient[0])); err != nil {
		t.Error(err)
	}
}

// TestRegressionSolutions: on one set of data, gradient descent from zero ends where
// the solver says: the three forms of ridge at the same weights, and too many weights
// at those of least norm.
func TestRegressionSolutions(t *testing.T) {
	for _, c := range []struct {
		name string
		λ    float64
	}{{"regression-ols", 0}, {"regression-minimum-norm", 0}, {"regression-ridge", 0.5}, {"regression-ridge-observations", 0.5}, {"regression-ridge-features", 0.5}} {
		var s builders.Settings
		if c.λ > 0 {
			s = builders.Settings{"lambda": c.λ}
		}
		m := layertest.Build(t, c.name, s)
		batch := m.Examples(rand.New(rand.NewPCG(2, 2)))
		want, err := observations(m, batch).Solve(c.λ)
		if err != nil {
			t.Fatal(err)
		}
		r := layertest.NewTrainer(t, m, train.SGD(0.01), 1)
		for range 30_000 {
			r.Step(batch)
		}
		if err := reftest.Near(r.Read("w"), want, 1e-6); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLeastNorm: Newton's iteration comes to the solution by the singular value decomposition, of
// too many weights without a penalty and of any number with one.
func TestLeastNorm(t *testing.T) {
	for _, c := range []struct {
		n, d int
		λ    float64
	}{{4, 8, 0}, {1, 3, 0}, {7, 8, 0}, {4, 8, 0.3}, {16, 4, 0.01}, {16, 4, 100}} {
		g := graph.New("norm")
		i, d := graph.Ax("i", c.n), graph.Ax("d", c.d)
		x, y, λ := g.Input("X", graph.F64, i, d), g.Input("y", graph.F64, i), g.Input("λ", graph.F64)
		feed := layertest.Filled(g, rand.New(rand.NewPCG(8, 1)))
		feed[λ] = layertest.Scalar(c.λ)
		want, err := linear.LeastSquares{X: feed[x].Data, Y: feed[y].Data, N: c.n, D: c.d}.Solve(c.λ)
		if err != nil {
			t.Fatal(err)
		}
		got := layertest.Both(t, feed, 1e-9, builders.LeastNorm(x, y, λ))[0].Data
		if err := reftest.Near(got, want, 1e-8); err != nil {
			t.Errorf("%d observations of %d features, λ = %v: %v", c.n, c.d, c.λ, err)
		}
	}
}

// TestDescentFromZero is the exercise of the notes, as the models are by default: gradient descent
// from zero, at the model's rate on its one data set, ends at the solution of least norm, which
// stands beside the weights as w⁺; Adam brings the loss to 0 as well, at larger weights.
func TestDescentFromZero(t *testing.T) {
	norm := func(w []float64) (n float64) {
		for _, v := range w {
			n += v * v
		}
		return math.Sqrt(n)
	}
	for _, c := range []struct {
		name string
		λ    float64
	}{{"regression-minimum-norm", 0}, {"regression-ridge-features", 1}} {
		trained := func(o func(rate float64) train.Optimiser, steps int) (weights, goal []float64, loss float64, m *builders.Model) {
			m = layertest.Build(t, c.name, nil)
			r := layertest.NewTrainer(t, m, o(m.Builder.Descent(m.Settings)), 1)
			losses := r.Learn(steps)
			return r.Read("w"), r.Read("w⁺"), losses[steps-1], m
		}
		w, goal, loss, m := trained(func(rate float64) train.Optimiser { return train.SGD(rate) }, 400)
		batch := m.Examples(rand.New(rand.NewPCG(1, 1)))
		want, err := observations(m, batch).Solve(c.λ)
		if err != nil {
			t.Fatal(err)
		}
		if err := reftest.Near(w, want, 1e-6); err != nil {
			t.Errorf("%s: gradient descent from zero: %v", c.name, err)
		}
		if err := reftest.Near(goal, want, 1e-9); err != nil {
			t.Errorf("%s: the pseudo-inverse beside it: %v", c.name, err)
		}
		other, _, left, _ := trained(func(float64) train.Optimiser { return train.Adam(0.05) }, 3000)
		if left > 1e-6 || loss > 1e-6 || !(norm(other) > 1.01*norm(w)) && c.λ == 0 {
			t.Errorf("%s: losses %v and by Adam %v; norms %v and by Adam %v", c.name, loss, left, norm(w), norm(other))
		}
		for in, v := range m.Examples(rand.New(rand.NewPCG(9, 9))) {
			if !slices.Equal(v.Data, batch[in].Data) {
				t.Errorf("%s: %v differs from step to step", c.name, in)
			}
		}
		another, err := builders.Build(c.name, builders.Settings{"sample": 2}, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		if x := another.Examples(rand.New(rand.NewPCG(1, 1)))[another.Graph.Lookup("X")]; slices.Equal(x.Data, batch[m.Graph.Lookup("X")].Data) {
			t.Errorf("%s: samples 1 and 2 are the same", c.name)
		}
		fresh, err := builders.Build(c.name, builders.Settings{"sample": 0}, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		X := fresh.Graph.Lookup("X")
		if slices.Equal(fresh.Examples(rand.New(rand.NewPCG(1, 1)))[X].Data, fresh.Examples(rand.New(rand.NewPCG(1, 2)))[X].Data) {
			t.Errorf("%s: sample=0 draws nothing new", c.name)
		}
	}
}

// TestPrincipalComponentRegression: the directions become those of the singular value
// decomposition of the centred data, up to sign, and the weights the least squares
// solution for the projections.
func TestPrincipalComponentRegression(t *testing.T) {
	m := layertest.Build(t, "regression-pcr", builders.Settings{"k": 3})
	batch := m.Examples(rand.New(rand.NewPCG(4, 4)))
	x, y := batch[m.Graph.Lookup("x")], batch[m.Graph.Lookup("y")]
	n, d, k := x.Type.Shape.Dim(0), x.Type.Shape.Dim(1), 3
	r := layertest.NewTrainer(t, m, train.SGD(0.05), 1)
	for range 5000 {
		r.Step(batch)
	}
	centred, ȳ := mat.NewDense(n, d, slices.Clone(x.Data)), 0.0
	for j := range d {
		mean := mat.Sum(centred.ColView(j)) / float64(n)
		for i := range n {
			centred.Set(i, j, centred.At(i, j)-mean)
		}
	}
	for _, v := range y.Data {
		ȳ += v / float64(n)
	}
	var svd mat.SVD
	if !svd.Factorize(centred, mat.SVDThin) {
		t.Fatal("no decomposition")
	}
	var v, u mat.Dense
	svd.VTo(&v)
	svd.UTo(&u)
	got, w := r.Read("v"), r.Read("w")
	for c := range k {
		dot := 0.0
		for j := range d {
			dot += got[j*k+c] * v.At(j, c)
		}
		if math.Abs(math.Abs(dot)-1) > 1e-9 {
			t.Errorf("direction %d has the product %v with component %d", c, dot, c)
		}
		want := 0.0 // uᵀy/σ
		for i := range n {
			want += u.At(i, c) * y.Data[i] / svd.Values(nil)[c]
		}
		if math.Abs(math.Abs(w[c])-math.Abs(want)) > 1e-6 {
			t.Errorf("weight %d is %v, want ±%v", c, w[c], want)
		}
	}
	if b := r.Read("b")[0]; math.Abs(b-ȳ) > 1e-6 {
		t.Errorf("b is %v, want the mean %v", b, ȳ)
	}
}

// TestTransfer: features learnt in one task serve another. Frozen they stay as they
// came, bit for bit; fine-tuned they move; either way the other task is learnt far
// better than with features drawn at random and kept.
func TestTransfer(t *testing.T) {
	source := layertest.NewTrainer(t, layertest.Build(t, "regression-transfer", builders.Settings{"h": 6, "d": 12}), train.Adam(0.01), 1)
	source.Learn(4000)
	other := func(frozen float64, copied bool) (came, left []float64, loss float64) {
		r := layertest.NewTrainer(t, layertest.Build(t, "regression-transfer", builders.Settings{"h": 6, "d": 12, "task": 1, "frozen": frozen}), train.Adam(0.01), 1)
		if copied {
			if paths, err := r.Store.CopyFrom(source.Store, "features", "features"); err != nil || !slices.Equal(paths, []string{"features/b", "features/w"}) {
				t.Fatal(paths, err)
			}
		}
		came = r.Read("features/w")
		losses := r.Learn(1000)
		return came, r.Read("features/w"), layertest.Average(losses[990:])
	}
	learnt := source.Read("features/w")
	came, left, frozen := other(1, true)
	if !slices.Equal(came, learnt) || !slices.Equal(left, learnt) {
		t.Error("frozen features differ from what was learnt")
	}
	came, left, tuned := other(0, true)
	if !slices.Equal(came, learnt) || slices.Equal(left, learnt) {
		t.Error("fine-tuned features differ at first, or not at all")
	}
	_, _, random := other(1, false)
	if frozen > random/3 || tuned > random/3 {
		t.Errorf("loss with frozen features %v, fine-tuned %v, with random ones %v", frozen, tuned, random)
	}
}

// TestElbows: by hand, the elbow of a unit is at −b/w, the line bends there by v times the size of
// w, and a unit that is 0 on all data is dead: no gradient reaches it.
func TestElbows(t *testing.T) {
	g := graph.New("elbows")
	h := graph.Ax("h", 3)
	net := builders.NewReLU1D(g, graph.F64, h)
	x := g.Input("x", graph.F64, graph.Ax("i", 4))
	e := net.Kinks(x)
	y := net.Of(x)
	feed := graph.Values{
		net.W: layertest.ValueOf(net.W, 2, -1, 0.5),
		net.B: layertest.ValueOf(net.B, -2, 3, -5), // elbows at 1, 3 and 10
		net.V: layertest.ValueOf(net.V, 1.5, 4, 7),
		net.C: layertest.ValueOf(net.C, 0.25),
		x:     layertest.ValueOf(x, 0, 2, 4, 10),
	}
	out := layertest.Values(t, feed, e.At, e.Slope, e.Bend, e.Dead, y)
	for i, want := range [][]float64{{1, 3, 10}, {2, -1, 0.5}, {3, 4, 3.5}, {0, 0, 1}, {12.25, 7.25, 9.25, 27.25}} {
		if !slices.Equal(out[i].Data, want) {
			t.Errorf("%d: got %v, want %v", i, out[i].Data, want)
		}
	}
	// Left of all elbows the slope is that of the units with w < 0; each elbow adds its bend.
	slope := -4.0
	for _, c := range []struct{ bend, from, to float64 }{{0, -1, 0}, {3, 1.5, 2.5}, {4, 4, 9}, {3.5, 11, 12}} {
		slope += c.bend
		feed[x] = layertest.ValueOf(x, c.from, c.to, c.from, c.to)
		out := layertest.Values(t, feed, y)[0].Data
		if got := (out[1] - out[0]) / (c.to - c.from); math.Abs(got-slope) > 1e-12 {
			t.Errorf("from %v to %v the slope is %v, want %v", c.from, c.to, got, slope)
		}
	}
	// A dead unit is one that no gradient reaches.
	feed[x] = layertest.ValueOf(x, 0, 2, 4, 10)
	d := layertest.Values(t, feed, grad.Of(ops.Sum(ops.Square(y)), net.W)[0])[0].Data
	if d[0] == 0 || d[1] == 0 || d[2] != 0 {
		t.Errorf("derivatives by w %v: want 0 for the dead unit alone", d)
	}
}

// TestRegressionMistakes are errors that say what would fit.
func TestRegressionMistakes(t *testing.T) {
	layertest.Refuse(t, []layertest.Refusal{
		{Model: "regression-ridge", Settings: builders.Settings{"lambda": -1}, Want: "regression-ridge: lambda = -1: want at least 0"},
		{Model: "regression-ridge-features", Settings: builders.Settings{"lambda": -0.5}, Want: "regression-ridge-features: lambda = -0.5: want at least 0"},
		{Model: "regression-minimum-norm", Settings: builders.Settings{"n": 8}, Want: "regression-minimum-norm: d = 8 features for n = 8 observations: want more features than observations (regression-ols takes any)"},
		{Model: "regression-pcr", Settings: builders.Settings{"k": 7}, Want: "regression-pcr: k = 7 components of 32 observations with 6 features: want at most 6"},
		{Model: "regression-pcr", Settings: builders.Settings{"n": 2}, Want: "regression-pcr: k = 2 components of 2 observations with 6 features: want at most 1"},
	})
}

// TestRegressionNils are recorded mistakes.
func TestRegressionNils(t *testing.T) {
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("i", 3), graph.Ax("d", 2)), map[string]func(g *graph.Graph, x *graph.Node){
		"least squares":     func(_ *graph.Graph, x *graph.Node) { builders.LeastSquares(x, nil, nil) },
		"ridge":             func(_ *graph.Graph, x *graph.Node) { builders.Ridge(x, nil, nil, nil) },
		"fake observations": func(_ *graph.Graph, x *graph.Node) { builders.RidgeObservations(x, nil, nil, nil) },
		"no target":         func(_ *graph.Graph, x *graph.Node) { builders.RidgeObservations(x, x, x, nil) },
		"extra features":    func(_ *graph.Graph, x *graph.Node) { builders.RidgeFeatures(x, nil, nil, nil, nil) },
		"least norm":        func(_ *graph.Graph, x *graph.Node) { builders.LeastNorm(x, nil, nil) },
		"no vector":         func(_ *graph.Graph, x *graph.Node) { builders.LeastNorm(x, x, x) },
		"components":        func(_ *graph.Graph, x *graph.Node) { builders.Components(x, nil) },
		"subspace":          func(_ *graph.Graph, x *graph.Node) { builders.SubspaceStep(x, nil) },
		"relu":              func(_ *graph.Graph, x *graph.Node) { builders.ReLU1D{}.Of(x) },
		"elbows":            func(_ *graph.Graph, x *graph.Node) { builders.ReLU1D{}.Kinks(x) },
		"no layers":         func(_ *graph.Graph, x *graph.Node) { builders.Perceptron(x, nil, ops.ReLU) },
		"empty layer":       func(_ *graph.Graph, x *graph.Node) { builders.Perceptron(x, make([]nn.Linear, 1), ops.ReLU) },
	})
}
