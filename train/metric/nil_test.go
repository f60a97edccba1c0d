package metric_test

import (
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/metric"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"ARI": metric.ARI, "AbsoluteError": metric.AbsoluteError, "Accuracy": metric.Accuracy, "AdjustedRand": metric.AdjustedRand,
			"Bits": metric.Bits, "EditDistance": metric.EditDistance[int32], "Inertia": metric.Inertia, "Nats": metric.Nats,
			"NewConfusion": metric.NewConfusion, "Perplexity": metric.Perplexity, "R2": metric.R2,
			"SquaredError": metric.SquaredError,
		},
		Types: []any{
			metric.Confusion{}, metric.Scores(nil),
		},
		Samples: func() []any {
			return []any{metric.NewConfusion("y"), "y"}
		},
	})
}
