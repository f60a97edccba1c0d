package viz_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestBoxes: every box of a comparison is of the nodes that its panel says, whichever
// side is which.
func TestBoxes(t *testing.T) {
	var roots [2][]*graph.Node
	for i, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		roots[i] = []*graph.Node{m.Loss}
	}
	for _, order := range [][2]int{{0, 1}, {1, 0}, {0, 0}} {
		d, err := viz.Diff(roots[order[0]], roots[order[1]])
		if err != nil {
			t.Fatal(err)
		}
		boxes := d.Boxes()
		f := d.Figure()
		if len(boxes) != len(f.Nodes) {
			t.Errorf("%d boxes of %d", len(boxes), len(f.Nodes))
		}
		for _, n := range f.Nodes {
			p := boxes[n.ID]
			if (p.A != nil) != (n.Panel != 2) || (p.B != nil) != (n.Panel != 1) {
				t.Errorf("box %s of panel %d is of %v and %v", n.ID, n.Panel, p.A, p.B)
			}
			if p.A != nil && p.A.Graph() != roots[order[0]][0].Graph() || p.B != nil && p.B.Graph() != roots[order[1]][0].Graph() {
				t.Errorf("box %s is of the other side's nodes", n.ID)
			}
		}
	}
}

func TestEquationOf(t *testing.T) {
	m, err := builders.Build("kmeans-softmax", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := viz.EquationOf(m.Loss).String(), viz.Formula(m.Loss); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if e := viz.EquationOf(nil); e.Node != nil {
		t.Errorf("the equation of nil is %v", e)
	}
}
