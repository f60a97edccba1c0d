package main

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestLoopsAreOpened: the JSON of a program and of a profile and the listing of the documents have
// the rows of a loop's body.
func TestLoopsAreOpened(t *testing.T) {
	g := graph.New("loop")
	x, h := g.Input("x", graph.F64, graph.Ax("t", 5)), g.Input("h", graph.F64)
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		return []*graph.Node{ops.Tanh(ops.Mul(c[0], x[0])).As("h")}, nil
	})
	p, err := tape.Compile(g, tape.Fetch(r.Final[0]), tape.Passes())
	if err != nil {
		t.Fatal(err)
	}
	if row := newProgramJSON(p).Rows[0]; row.Op != "Scan" || len(row.Body) != 2 || row.Body[1].Op != "Tanh" || row.Loop[0] != "5 steps" {
		t.Errorf("the loop is %+v", row)
	}
	vm, err := p.NewVM(tape.NewStore(g))
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	prof, err := vm.Profile(t.Context(), tape.Feed{x: tape.Tensor(graph.NewValue(x.Type())), h: tape.Scalar(graph.F64, 1)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if row := newProfileJSON(p, prof).Instructions[0]; len(row.Body) != 2 || row.Steps != 5 || row.Body[1].Calls != 5 {
		t.Errorf("the loop is profiled as %+v", row)
	}
	if text := strings.Join(viewsRows(p), "\n"); !strings.Contains(text, "┆ 5 steps\n") || !strings.Contains(text, "= Tanh ") {
		t.Errorf("the documents list\n%s", text)
	}
}
