package figure_test

import (
	"context"
	"io"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Clean": figure.Clean, "IDPrefix": figure.IDPrefix, "Linear": figure.Linear, "ModuleID": figure.ModuleID, "Near": figure.Near, "NodesAlone": figure.NodesAlone,
			"OnlyPanel": figure.OnlyPanel, "Placed": figure.Placed, "Sub": figure.Sub, "Sup": figure.Sup, "Unmarked": figure.Unmarked, "TextWidth": figure.TextWidth, "WithTheme": figure.WithTheme, "WithoutLegend": figure.WithoutLegend,
		},
		Types: []any{figure.Alarm(0), figure.Figure{}, figure.Kind(0), figure.Rect{}, figure.Role(0), figure.Sheet{}, figure.Sketch{}, figure.Status(0)},
		Samples: func() []any {
			return []any{io.Discard, "x", 1, 0.5, &figure.Figure{}, context.Background()}
		},
	})
}
