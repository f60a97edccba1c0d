package viz_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestTangentsFlowForward: a tangent stands among the values, which it flows with,
// and says whose it is.
func TestTangentsFlowForward(t *testing.T) {
	g := graph.New("tangents")
	x, v := g.Input("x", graph.F32, graph.Ax("i", 3)), g.Input("v", graph.F32, graph.Ax("i", 3))
	y := ops.Sum(ops.Tanh(x).As("h")).As("y")
	d := grad.JVP([]*graph.Node{y}, []*graph.Node{x}, []*graph.Node{v})
	f, err := viz.Draw(append(d, y))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, n := range f.Nodes {
		if n.Backward {
			t.Errorf("%s is drawn as a gradient", n.Main)
		}
		if strings.HasPrefix(n.Main, "δ") && strings.Contains(n.Title, "how "+strings.TrimPrefix(strings.Fields(n.Main)[0], "δ")[:1]+" moves") {
			found++
		}
	}
	if want := "δy = Σᵢ δhᵢ"; viz.Formula(d[0]) != want || found != 2 {
		t.Errorf("%s, want %s; %d tangents", viz.Formula(d[0]), want, found)
	}
}
