package look_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/lab/look"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{"At": look.At, "Train": look.Train, "Spaced": look.Spaced, "ReadFrom": look.ReadFrom},
		Types:     []any{look.Attention{}, look.Learned{}, look.Moment{}, look.Quadratic{}, look.Ratio{}, look.Receptive{}, look.Ridge{}, look.Run{}, look.Spectrum{}, look.Units{}},
		Samples: func() []any {
			m, err := builders.Build("regression-relu", nil, graph.F64)
			if err != nil {
				t.Fatal(err)
			}
			return []any{m, 2, 0.5, []float64{1, 2}, []int{1}}
		},
	})
}
