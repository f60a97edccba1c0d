package look_test

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab/look"
)

// what they normalise, and edges are the graph that a matrix is.
func TestSpectrum(t *testing.T) {
	ctx := context.Background()
	cycle, err := fresh(t, "graph-pool-fixed", builders.Settings{"n": 6}).Spectrum(ctx)
	if err != nil || cycle == nil {
		t.Fatal(cycle, err)
	}
	for k, v := range []float64{0, .5, .5, 1.5, 1.5, 2} {
		if math.Abs(cycle.Values[k]-v) > 1e-12 {
			t.Errorf("eigenvalue %d of a cycle is %v, want %v", k, cycle.Values[k], v)
		}
	}
	for _, c := range []struct {
		model    string
		settings builders.Settings
		commutes func(f look.Filter) float64
		not      func(f look.Filter) float64
	}{
		{"graph-gcn", nil, func(f look.Filter) float64 { return f.WithSelf }, func(f look.Filter) float64 { return f.Normalised }},
		{"graph-powers", nil, func(f look.Filter) float64 { return f.Normalised }, func(f look.Filter) float64 { return f.A }},
		{"graph-chebyshev", nil, func(f look.Filter) float64 { return f.Normalised }, func(f look.Filter) float64 { return f.A }},
		{"graph-gcn", builders.Settings{"edges": 28}, func(f look.Filter) float64 { return f.WithSelf }, func(f look.Filter) float64 { return f.Normalised }},
	} {
		s, err := fresh(t, c.model, c.settings).Spectrum(ctx)
		if err != nil || s == nil || len(s.Filters) == 0 {
			t.Errorf("%s %v: %+v, %v", c.model, c.settings, s, err)
			continue
		}
		if f := s.Filters[0]; c.commutes(f) > 1e-12 || c.not(f) < 1e-3 {
			t.Errorf("%s: %+v", c.model, f)
		}
	}
	if s, err := fresh(t, "attention-self", nil).Spectrum(ctx); s != nil || err != nil {
		t.Errorf("%v, %v", s, err)
	}
}

// TestLayers: the statistics are those of the named quantities, and only nets of three layers in a row are
