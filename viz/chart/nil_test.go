package chart_test

import (
	"io"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Format": chart.Format, "Panels": chart.Panels, "Sheet": chart.Sheet, "Style": chart.Style,
		},
		Types: []any{chart.Bars{}, chart.Cloud{}, chart.Heatmap{}, chart.Images{}, chart.Lines{}, chart.Matrix{}, chart.Network{}, chart.Scale{}, chart.Scatter{}, chart.Sparkline{}},
		Samples: func() []any {
			return []any{io.Discard, "x", 1, 0.5, []float64{1, 2}}
		},
	})
}
