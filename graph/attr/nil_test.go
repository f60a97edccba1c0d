package attr_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/niltest"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{"AxesOf": attr.AxesOf, "FloatOf": attr.FloatOf, "IntsOf": attr.IntsOf},
		Types:     []any{attr.AxisSet(0), attr.Float(0), attr.Ints{}},
		Samples: func() []any {
			return []any{attr.AxesOf(0, 2), attr.FloatOf(0.5), attr.IntsOf(2, 0, 1), []int{1, 2}, 1, 0.5}
		},
	})
}
