package graph_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Align": graph.Align, "Apply": graph.Apply, "Ax": graph.Ax,
			"Dims": graph.Dims, "Beside": graph.Beside, "Join": graph.Join,
			"New": graph.New, "Primed": graph.Primed, "NewBody": graph.NewBody,
			"NewShape": graph.NewShape, "NewValue": graph.NewValue,
			"Of": graph.Of, "OpText": graph.OpText,
			"Parse": graph.Parse, "ParseDType": graph.ParseDType, "Reachable": graph.Reachable,
			"ReachableUntil": graph.ReachableUntil,
			"Verify":         graph.Verify,
		},
		Types: []any{
			graph.Axis{}, graph.Body{}, graph.DType(0), graph.Error{}, graph.Errors{}, graph.Graph{}, graph.Mistake{}, graph.Node{}, graph.OriginKind(0), graph.Pos{}, graph.Role(0), graph.Shape{}, graph.Type{}, graph.Update{}, graph.Value{},
		},
		Skipped: map[string]string{
			"Node.In": "takes an index as a slice does",
		},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("j", 4))
			w := g.Param("w", graph.F32, graph.Ax("j", 4))
			return []any{g, x, w, x.Type(), x.Shape(), graph.F64, graph.NewValue(x.Type()), x.Op(), graph.Ax("k", 2), graph.Step{g.Assign(w, w)},
				[]*graph.Node{x}, strings.NewReader("x"), "i", 1, 0.5}
		},
	})
}
