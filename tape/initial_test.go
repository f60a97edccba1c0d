package tape_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestStartsForAnyNumberOfCores: the values that a large parameter starts from depend on the seed and on
// its path alone, not on how many cores draw them, and each place has a number of its own.
func TestStartsForAnyNumberOfCores(t *testing.T) {
	draw := func(cores int) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		g := graph.New("start")
		g.Param("w", graph.F64, graph.Ax("i", 233), graph.Ax("j", 301)).Init(initial.Normal(0, 1))
		w, err := tape.NewStore(g, tape.Seed(3)).Get("w")
		if err != nil {
			t.Fatal(err)
		}
		return w.Data().([]float64)
	}
	one := draw(1)
	if !slices.Equal(one, draw(2)) || !slices.Equal(one, draw(4)) {
		t.Error("the values depend on the number of cores")
	}
	slices.Sort(one)
	if n := len(slices.Compact(one)); n < len(one)*9/10 {
		t.Errorf("%d different values of %d", n, len(one))
	}
}
