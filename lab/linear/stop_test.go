package linear_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/lab/linear"
)

// TestCompileIsStopped: what compiles ends with the error of its context, while it compiles.
func TestCompileIsStopped(t *testing.T) {
	p := linear.LeastSquares{X: []float64{1, 2, 3, 5}, Y: []float64{1, 2}, N: 2, D: 2}
	if _, err := p.Shrink(tapetest.Uncompiled(t.Context()), 1, 0.1, 2); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
