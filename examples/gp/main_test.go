package main

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestPosterior: the likelihood and the predictions of 20 months are those of the closed formulas in
// NumPy 1.24, for the hyperparameters at the start.
func TestPosterior(t *testing.T) {
	_, all, err := read(1 << 20) // all months but the first
	if err != nil {
		t.Fatal(err)
	}
	var seen, other months
	for k := range 39 {
		m := &other
		if k%2 == 1 {
			m = &seen
		}
		m.years, m.ppm = append(m.years, all.years[k]), append(m.ppm, all.ppm[k])
	}
	// The first month is one of those that are learnt from: it alone was read as seen, with a mean of its own.
	first, _, err := read(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	seen = months{append(first.years, seen.years...), append(first.ppm, seen.ppm...)}
	mean := 0.
	for _, v := range seen.ppm {
		mean += v / 20
	}
	for i := range seen.ppm {
		seen.ppm[i] -= mean
	}
	g := graph.New("likelihood")
	p := newPosterior(g, 20)
	values, err := tape.Eval(context.Background(), tape.Feed{p.t: tape.Of(p.t, seen.years...), p.y: tape.Of(p.y, seen.ppm...)}, p.loss)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want []float64) {
		t.Helper()
		for i, v := range want {
			if !(math.Abs(got[i]-v) <= 1e-8*(1+math.Abs(v))) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
	}
	near("log p", []float64{-20 * values[p.loss].Item()}, []float64{-46.866186008739234})
	got, err := predict(context.Background(), tape.NewStore(g), seen, other.years[:4])
	if err != nil {
		t.Fatal(err)
	}
	near("means", got.mean, []float64{0.30479307, -0.45015836, -3.65395059, -1.90175469})
	near("deviations", got.deviation, []float64{0.20104537, 0.17588698, 0.17866578, 0.20165565})
}

// TestHeld: the share of what lies within the intervals, and the error, of the years that are asked for.
func TestHeld(t *testing.T) {
	p := prediction{mean: []float64{0, 1, 2, 3}, deviation: []float64{1, 1, 1, 1}}
	if share, rms := p.held(months{[]float64{1, 2, 3, 4}, []float64{9, 2, 5, 9}}, 2, 4); share != 0.5 || rms != math.Sqrt(5) {
		t.Errorf("%v of the intervals, off by %v", share, rms)
	}
}
