package notation_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/notation"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Parse": notation.Parse, "Reference": notation.Reference,
		},
		Types: []any{
			notation.Error{}, notation.Errors{}, notation.File{}, notation.Pos{}},
		Samples: func() []any {
			g := graph.New("sample")
			return []any{g, g.Input("x", graph.F32, graph.Ax("n", 2)), "x"}
		},
	})
}
