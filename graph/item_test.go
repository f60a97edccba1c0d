package graph_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// TestItem: the only element of a value, and NaN where there is none, or one of several.
func TestItem(t *testing.T) {
	one := graph.NewValue(graph.Type{DType: graph.F64})
	one.Data[0] = 3
	if got := one.Item(); got != 3 {
		t.Errorf("of %v it is %v", one, got)
	}
	g := graph.New("")
	two := graph.NewValue(g.Input("x", graph.F64, graph.Ax("i", 2)).Type())
	for _, v := range []graph.Value{{}, two} {
		if got := v.Item(); !math.IsNaN(got) {
			t.Errorf("of %v it is %v, want NaN", v, got)
		}
	}
}
