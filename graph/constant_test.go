package graph_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/memory"
)

// TestConstantThatDoesNotFit: a constant that there is no memory for is a mistake at the user's
// line, and nothing is allocated or filled.
func TestConstantThatDoesNotFit(t *testing.T) {
	if there, known := memory.Available(); !known || there > 5<<40 {
		t.Skip("the machine does not say what memory it has, or has it")
	}
	g := graph.New("huge")
	n := g.ConstantFunc(graph.Bool, func([]float64) { t.Error("filled") }, graph.Ax("i", 1<<20), graph.Ax("j", 1<<19))
	if n.IsValid() || g.Err() == nil {
		t.Fatal("a constant of 4.5 TiB")
	}
	if err := g.Err().Error(); !strings.HasPrefix(err, "graph/constant_test.go:") || !strings.Contains(err, ": constant: bool[i=1048576 j=524288] takes 4.5 TiB, and there are ") ||
		!strings.HasSuffix(err, " GiB (take smaller sizes)") {
		t.Error(err)
	}
	g = graph.New("small")
	n = g.ConstantFunc(graph.F32, func(v []float64) { v[1] = 0.1 }, graph.Ax("i", 2))
	if same := g.Constant(graph.F32, []float64{0, 0.1}, graph.Ax("i", 2)); same != n || g.Err() != nil {
		t.Errorf("%v and %v: %v", n, same, g.Err())
	}
	if g.ConstantFunc(graph.I32, func(v []float64) { v[0] = 0.5 }, graph.Ax("i", 2)); g.Err() == nil {
		t.Error("0.5 is an integer")
	}
}
