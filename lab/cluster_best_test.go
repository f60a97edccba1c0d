package lab_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
)

// TestBest: runs whose inertias differ by rounding alone are equal, and the first of them is the best,
// on every processor; what is not finite is worse than what is.
func TestBest(t *testing.T) {
	for _, c := range []struct {
		inertias []float64
		want     uint64
	}{
		{[]float64{3, 1 + 1e-7, 1}, 1},
		{[]float64{1 + 1e-5, 1, 1}, 1},
		{[]float64{0, 0}, 0},
		{[]float64{math.NaN(), math.Inf(1), 2}, 2},
		{[]float64{math.NaN(), math.NaN()}, 0},
		{[]float64{math.Inf(1), math.NaN()}, 0},
	} {
		var v lab.Clustering
		for i, inertia := range c.inertias {
			v.Runs = append(v.Runs, lab.ClusterRun{Seed: uint64(i), Measures: []lab.Measure{{Inertia: inertia}}})
		}
		if got := v.Best().Seed; got != c.want {
			t.Errorf("of %v the best is run %d, want %d", c.inertias, got, c.want)
		}
	}
	if got := (lab.Clustering{}).Best(); got.Seed != 0 || got.Measures != nil {
		t.Errorf("of no runs the best is %+v", got)
	}
}
