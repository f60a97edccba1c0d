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
)

// TestWeightedCountsConfidence: with spreads of 1 the loss is that of least squares, and an
// observation with half the variance is as good as two.
func TestWeightedCountsConfidence(t *testing.T) {
	const n, d = 4, 3
	loss := func(rows []int, σ []float64) (value, slope []float64) {
		g := graph.New("weighted")
		i, axis := graph.Ax("i", len(rows)), graph.Ax("d", d)
		rng := rand.New(rand.NewPCG(1, 2))
		var X, y [n][]float64
		for r := range n {
			for range d {
				X[r] = append(X[r], rng.NormFloat64())
			}
			y[r] = []float64{rng.NormFloat64()}
		}
		var xs, ys []float64
		for _, r := range rows {
			xs, ys = append(xs, X[r]...), append(ys, y[r]...)
		}
		w := g.Param("w", graph.F64, axis)
		x, target := g.Constant(graph.F64, xs, i, axis), g.Constant(graph.F64, ys, i)
		r := builders.LeastSquares(x, w, target)
		if σ != nil {
			r = builders.WeightedLeastSquares(x, w, target, g.Constant(graph.F64, σ, i))
		}
		out := layertest.BothWays(t, graph.Values{w: {Type: w.Type(), Data: []float64{1, -2, 0.5}}}, r.Loss, grad.Of(r.Loss, w)[0])
		return out[0].Data, out[1].Data
	}
	same := func(what string, a, b []float64) {
		t.Helper()
		for i := range b {
			if math.Abs(a[i]-b[i]) > 1e-12*max(1, math.Abs(b[i])) {
				t.Errorf("%s: %v, want %v", what, a, b)
			}
		}
	}
	v, s := loss([]int{0, 1, 2, 3}, []float64{1, 1, 1, 1})
	V, S := loss([]int{0, 1, 2, 3}, nil)
	same("loss", v, V)
	same("slope", s, S)
	v, s = loss([]int{0, 1, 2, 3}, []float64{1, math.Sqrt(0.5), 1, 1})
	V, S = loss([]int{0, 1, 1, 2, 3}, nil)
	same("loss of one counted twice", v, V)
	same("slope of one counted twice", s, S)
}

// TestLassoThresholds: where the features are orthonormal, the loss is least at the least
// squares weights z drawn to 0 by λ/2, and those within λ/2 of 0 vanish. There, no
// direction leads down.
func TestLassoThresholds(t *testing.T) {
	const λ, d = 0.6, 4
	z := []float64{1, -0.2, -0.9, 0.29}
	best := []float64{0.7, 0, -0.6, 0}
	g := graph.New("lasso")
	axis := graph.Ax("d", d)
	I := make([]float64, d*d)
	for i := range d {
		I[i*d+i] = 1
	}
	w := g.Param("w", graph.F64, axis)
	loss := builders.Lasso(g.Constant(graph.F64, I, graph.Ax("i", d), axis), w, g.Constant(graph.F64, z, graph.Ax("i", d)), g.Constant(graph.F64, []float64{λ})).Loss
	at := func(v []float64) float64 {
		return layertest.BothWays(t, graph.Values{w: {Type: w.Type(), Data: v}}, loss)[0].Data[0]
	}
	least := at(best)
	want := 0.3*0.3*2 + 0.2*0.2 + 0.29*0.29 + λ*1.3
	if math.Abs(least-want) > 1e-12 {
		t.Errorf("loss %v, want %v", least, want)
	}
	for j := range d {
		for _, h := range []float64{-1e-3, 1e-3} {
			moved := slices.Clone(best)
			moved[j] += h
			if at(moved) <= least {
				t.Errorf("weight %d moved by %v gives %v, less than %v", j, h, at(moved), least)
			}
		}
	}
	// No slope by a weight that is 0 but for the fit's: the convention |w|′(0) = 0.
	slope := grad.Of(loss, w)[0]
	got := layertest.BothWays(t, graph.Values{w: {Type: w.Type(), Data: best}}, slope)[0].Data
	for j, s := range []float64{0, -2 * z[1], 0, -2 * z[3]} {
		if math.Abs(got[j]-s) > 1e-12 {
			t.Errorf("slope by weight %d: %v, want %v", j, got[j], s)
		}
	}
}

func TestLeastSquaresFormsMistakes(t *testing.T) {
	for name, call := range map[string]func(x *graph.Node){
		"weighted": func(x *graph.Node) { builders.WeightedLeastSquares(x, nil, nil, nil) },
		"spreads":  func(x *graph.Node) { builders.WeightedLeastSquares(x, x, x, nil) },
		"lasso":    func(x *graph.Node) { builders.Lasso(x, nil, nil, nil) },
		"bag":      func(x *graph.Node) { builders.SkipGram{}.Bag(x) },
	} {
		g := graph.New(name)
		if call(g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("d", 2))); g.Err() == nil {
			t.Errorf("%s: no mistake", name)
		}
	}
}
