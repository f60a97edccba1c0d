package viz_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestNotationOfTriangles: a formula says which triangle is read.
func TestNotationOfTriangles(t *testing.T) {
	g := graph.New("notation")
	a, b := g.Input("A", graph.F64, graph.Dims(2, 2)...), g.Input("b", graph.F64, graph.Dims(2, 1)...)
	for how, want := range map[ops.Triangular]string{
		0:                            "tril(A)⁻¹·b",
		ops.Upper:                    "triu(A)⁻¹·b",
		ops.UnitDiagonal:             "(I + tril(A, −1))⁻¹·b",
		ops.Upper | ops.UnitDiagonal: "(I + triu(A, 1))⁻¹·b",
	} {
		y := ops.SolveTriangular(a, b, how)
		got := viz.Unicode(y.Op().(interface {
			Notation(*graph.Node, []expr.Expr) expr.Expr
		}).Notation(y, []expr.Expr{expr.Sym("A"), expr.Sym("b")}))
		if got != want {
			t.Errorf("%v: %s, want %s", how, got, want)
		}
	}
}
