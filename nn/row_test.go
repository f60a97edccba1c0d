package nn_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestLinearOfRow: a layer takes one row, x[d], and mapped over rows it is the layer of all.
func TestLinearOfRow(t *testing.T) {
	g := graph.New("row")
	x := g.Input("x", graph.F64, graph.Ax("b", 3), graph.Ax("d", 2))
	l := nn.NewLinear(g, "l", graph.F64, graph.Ax("d", 2), graph.Ax("h", 2))
	rows := vmap.Each(func(x []*graph.Node) []*graph.Node { return []*graph.Node{l.Of(x[0])} }, x)[0]
	apart := ops.Sum(ops.Square(ops.Sub(rows, l.Of(x))))
	values, err := tape.Eval(t.Context(), tape.Feed{x: tape.Of(x, 1, 2, 3, 4, 5, 6)}, apart)
	if err != nil {
		t.Fatal(err)
	}
	if rows.Type() != l.Of(x).Type() || values[apart].Data[0] != 0 {
		t.Errorf("%v, want %v; apart by %v", rows.Type(), l.Of(x).Type(), values[apart])
	}
	if err := check.Failed(check.Graph(t.Context(), rows)); err != nil {
		t.Error(err)
	}
}
