package ops_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// What ScatterAdd leaves out because its index is outside the axis has no
// derivative, while Gather, which the derivative is made of, gives NaN there.
func TestScatterAddDerivativeOutsideTheAxis(t *testing.T) {
	g := graph.New("scatter")
	index := g.Input("a", graph.I64, graph.Ax("i", 4))
	values := g.Input("v", graph.F64, graph.Ax("i", 4), graph.Ax("d", 2))
	sum := ops.ScatterAdd(index, values, 0, graph.Ax("j", 3), graph.Ax("d", 2))
	loss := ops.Sum(ops.Square(sum))
	dv := grad.Of(loss, values)[0]
	feed := ref.Feed{
		index:  {Type: index.Type(), Data: []float64{0, 3, -1, 2}},
		values: {Type: values.Type(), Data: []float64{1, 2, 3, 4, 5, 6, 7, 8}},
	}
	want := []float64{2, 4, 0, 0, 0, 0, 14, 16}
	exact, err := ref.Eval(graph.Env{}, feed, dv)
	if err != nil {
		t.Fatal(err)
	}
	run, err := reftest.Tape(0, feed, []*graph.Node{dv})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if a, b := exact[0].Data[i], run[0].Data[i]; a != w || b != w || math.IsNaN(a) {
			t.Errorf("derivative %v by definition, %v on the tape, want %v", exact[0].Data, run[0].Data, want)
			break
		}
	}
}
