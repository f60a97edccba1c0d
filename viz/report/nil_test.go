package report_test

import (
	"io"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{"Stops": report.Stops},
		Types:     []any{report.Page{}},
		Samples: func() []any {
			return []any{io.Discard, "x", 1}
		},
	})
}
