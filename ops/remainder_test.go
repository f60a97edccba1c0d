package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestWholeDivision: quotients are rounded down, remainders have the sign of the divisor, and both
// are 0 where the divisor is.
func TestWholeDivision(t *testing.T) {
	g := graph.New("division")
	a, b := g.Input("a", graph.I64, graph.Dims(7)...), g.Input("b", graph.I64, graph.Dims(7)...)
	feed := map[node][]int64{a: {7, -7, 7, -7, 5, 0, math.MinInt64}, b: {2, 2, -2, -2, 0, 0, -1}}
	if got, want := wholes(t, feed, ops.FloorDiv(a, b)), []int64{3, -4, -4, 3, 0, 0, math.MinInt64}; !slices.Equal(got, want) {
		t.Errorf("quotients %v, want %v", got, want)
	}
	if got, want := wholes(t, feed, ops.Remainder(a, b)), []int64{1, 1, -1, -1, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("remainders %v, want %v", got, want)
	}
}
