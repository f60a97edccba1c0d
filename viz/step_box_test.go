package viz

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// TestStepsAreOfTheirLoops: every box that a drawing has in the step of a loop is listed, with a node
// of the body of the loop that the roots have, also where loops share a body or lie in each other,
// and with the box of the value whose derivative it is.
func TestStepsAreOfTheirLoops(t *testing.T) {
	for _, name := range []string{"rnn-elman", "rnn-lstm", "rnn-gru", "rnn-stacked", "rnn-bidirectional", "attention-bidirectional", "filter-iir"} {
		roots := modelRoots(t, builderNamed(t, name))
		steps, err := Steps(roots, At(Notes))
		if err != nil {
			t.Fatal(err)
		}
		f, err := Draw(roots, At(Notes), CollapseAbove(-1), Unfolded())
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]StepBox{}
		backward := 0
		for _, s := range steps {
			listed[s.ID] = s
			if s.Backward && s.Of != "" {
				backward++
			}
			nodes := graph.Reachable(roots...)
			for i, l := range s.Loops {
				if !slices.Contains(nodes, l) || l.Body() == nil || s.Paths[i] == "" {
					t.Fatalf("%s: %s, of %q, is in a loop of elsewhere: %v", name, s.ID, s.Paths, l)
				}
				nodes = append(graph.Reachable(l.Body().Out()...), l.Body().In()...)
			}
			if !slices.Contains(nodes, s.Node) {
				t.Errorf("%s: %s, %v, is no node of the body", name, s.ID, s.Equation)
			}
			for x, id := range s.Given {
				if strings.HasPrefix(id, "s") && !slices.ContainsFunc(steps, func(o StepBox) bool { return o.ID == id }) {
					t.Errorf("%s: %s is given %v by a box %s that is not drawn", name, s.ID, x, id)
				}
			}
			if s.Node != nil && s.Equation.Node.Type() != s.Node.Type() {
				t.Errorf("%s: %s: %v stands for %v", name, s.ID, s.Equation, s.Node)
			}
		}
		boxes := 0
		for _, n := range f.Nodes {
			if !strings.HasPrefix(n.ID, "s") {
				continue
			}
			boxes++
			if s, ok := listed[n.ID]; !ok || s.Backward != n.Backward || s.Of != n.Row {
				t.Errorf("%s: box %s, %q in the row of %q, is listed as %+v", name, n.ID, n.Main, n.Row, s)
			}
		}
		if boxes == 0 || boxes != len(steps) || backward == 0 && name != "filter-iir" {
			t.Errorf("%s: %d boxes in steps, %d of them listed, %d as derivatives", name, boxes, len(steps), backward)
		}
	}
}
