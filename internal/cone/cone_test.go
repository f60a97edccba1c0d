package cone

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestCopy: the copy has what the root depends on and nothing else, with an input in place of the
// parameter that was given and the other one as it is.
func TestCopy(t *testing.T) {
	g := graph.New("model")
	w, b, x := g.Param("w", graph.F64), g.Param("b", graph.F64), g.Input("x", graph.F64)
	y := ops.Add(ops.Mul(w, x), b)
	unused := ops.Tanh(y)
	before := g.Len()
	to, copies := Copy("copy", []*graph.Node{w}, y)
	if err := to.Err(); err != nil {
		t.Fatal(err)
	}
	if to.Name() != "copy" || to.Len() != 5 || g.Len() != before {
		t.Errorf("%s has %d nodes and the model %d, want 5 and %d", to.Name(), to.Len(), g.Len(), before)
	}
	for n, role := range map[*graph.Node]graph.Role{w: graph.RoleInput, b: graph.RoleParam, x: graph.RoleInput} {
		if c := copies[n]; c.Graph() != to || c.Role() != role || c.Path() != n.Path() || c.Type() != n.Type() {
			t.Errorf("%v is copied as %v", n, c)
		}
	}
	if c := copies[y]; c == nil || c.In(0).In(0) != copies[w] || c.In(1) != copies[b] {
		t.Errorf("the root is copied as %v", c)
	}
	if copies[unused] != nil {
		t.Error("a node that the root does not depend on is copied")
	}
}
