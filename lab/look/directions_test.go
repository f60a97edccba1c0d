package look_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/lab/look"
	"github.com/tapestry-ml/tapestry/train"
)

// predicted, and ridge regression shrinks as its solution does.
func TestQuadratic(t *testing.T) {
	ctx := t.Context()
	m := built(t, "regression-ols", builders.Settings{"n": 12, "d": 5})
	const rate, steps = .01, 50
	r, err := look.Train(ctx, m, lab.Config{Steps: steps, OneBatch: true, Optimisers: []train.Optimiser{train.SGD(rate)}}, look.Spaced(steps))
	if err != nil {
		t.Fatal(err)
	}
	q, err := r.Quadratic(ctx)
	if err != nil || q == nil {
		t.Fatal(q, err)
	}
	p := linear.LeastSquares{N: 12, D: 5, X: r.Feeds[0][m.Graph.Lookup("X")].Float64s(), Y: r.Feeds[0][m.Graph.Lookup("y")].Float64s()}
	want, err := p.Shrink(ctx, 2, rate, steps)
	if err != nil {
		t.Fatal(err)
	}
	learned, err := q.Learned(ctx, rate)
	if err != nil {
		t.Fatal(err)
	}
	ridge, err := q.Ridge(ctx, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	end := len(learned.Steps) - 1
	for k, d := range want {
		near("σ", q.Sigma[k], d.Sigma)
		near("length", q.Length[k], math.Abs(d.Length))
		near("part by descent", learned.Part[end][k], d.Descent.Measured)
		near("predicted", learned.Predicted[end][k], d.Descent.Predicted)
		near("part by ridge", ridge.Part[0][k], d.Ridge.Measured)
	}
	if len(learned.Held) != len(learned.Steps) || learned.Best() < 0 || ridge.Best() != 0 {
		t.Errorf("held %v, best %d", learned.Held, learned.Best())
	}
	for _, none := range []string{"regression-lasso", "regression-relu", "autoencoder-linear", "loss-cross-entropy", "loss-huber", "dropout"} {
		if q, err := fresh(t, none, nil).Quadratic(ctx); q != nil || err != nil {
			t.Errorf("%s is not quadratic: %v, %v", none, q, err)
		}
	}
}

// TestReceptive: what is found by trial is what the windows say, in the middle of a long input; batch
