package linear_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{"NewPCA": linear.NewPCA, "NewPlane": linear.NewPlane},
		Types:     []any{linear.LeastSquares{}, linear.PCA{}, linear.Plane{}, linear.Shrinkage(nil)},
		Samples:   func() []any { return []any{data.Iris(), 2, 0.5, []float64{1, 2}} },
	})
}
