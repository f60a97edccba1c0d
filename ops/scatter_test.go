package ops_test

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestScatterRepeats: values are repeated along the named axes of the indices that they lack, and along
// those of the table; where an axis of the indices has the name of one of the table, by position.
func TestScatterRepeats(t *testing.T) {
	g := graph.New("repeated")
	table := g.Constant(graph.F32, make([]float64, 8), graph.Ax("v", 4), graph.Ax("d", 2))
	at := g.Constant(graph.I64, []float64{3, 0, 1, 3}, graph.Ax("k", 2), graph.Ax("n", 2))
	rows := g.Constant(graph.F32, []float64{1, 2, 3, 4}, graph.Ax("n", 2), graph.Ax("d", 2))
	each := g.Constant(graph.F32, []float64{5, 6}, graph.Ax("n", 2), graph.Ax("d", 1))
	own := g.Constant(graph.I64, []float64{2, 0}, graph.Ax("d", 2))
	row := g.Constant(graph.F32, []float64{7, 8}, graph.Dims(2)...)
	for _, c := range []struct {
		got  *graph.Node
		want []float64
	}{
		{ops.SetAt(table, at, rows, "v"), []float64{3, 4, 1, 2, 0, 0, 3, 4}},
		{ops.AddAt(table, at, rows, "v"), []float64{3, 4, 1, 2, 0, 0, 4, 6}},
		{ops.MaxAt(table, at, each, "v"), []float64{6, 6, 5, 5, 0, 0, 6, 6}},
		{ops.SetAt(table, own, row, "v"), []float64{7, 8, 0, 0, 7, 8, 0, 0}},
	} {
		values, err := tape.Eval(t.Context(), nil, c.got)
		if err != nil {
			t.Fatal(err)
		}
		if got := values[c.got].Data; !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
