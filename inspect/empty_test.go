package inspect_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestWithoutElements: a record of arrays without elements says their types, and nothing is lost in
// them.
func TestWithoutElements(t *testing.T) {
	g := graph.New("no rows")
	x := g.Input("x", graph.F32, graph.Ax("i", 0), graph.Ax("d", 3))
	w := g.Param("w", graph.F32, graph.Ax("d", 3))
	loss := ops.Mean(ops.Square(ops.Mul(x, w)))
	store, feed := tape.NewStore(g), tape.Feed{x: tape.Of[float64](x)}
	if _, err := inspect.Take(t.Context(), feed, store, loss); err != nil {
		t.Error(err)
	}
	if _, err := inspect.MeasurePrecision(t.Context(), feed, store, loss); err != nil {
		t.Error(err)
	}
	f, err := inspect.Autopsy(t.Context(), feed, store, loss)
	if err != nil || f == nil {
		t.Errorf("the mean of nothing, NaN: %v, %v", f, err)
	} else {
		t.Log(f)
	}
	a, err := tape.ArrayOf(x.Type(), feed[x])
	if err != nil {
		t.Fatal(err)
	}
	inspect.StatisticsOf(a, 4)
	if text := inspect.Values("x", a, inspect.Window{}); text != "x[i=0 d=3]\n" {
		t.Errorf("%q", text)
	}
}
