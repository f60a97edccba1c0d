package rewrite

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestLogisticLoss: the cross-entropy of a sigmoid as a beginner writes it stays
// finite far out, and its derivatives are right to second order, also at 0,
// where training starts.
func TestLogisticLoss(t *testing.T) {
	g := graph.New("logistic")
	z, y := g.Input("z", graph.F64, graph.Ax("i", 5)), g.Input("y", graph.F64, graph.Ax("i", 5))
	p := ops.Sigmoid(z)
	loss := ops.Neg(ops.Sum(ops.Add(ops.Mul(y, ops.Log(p)), ops.Mul(ops.OneMinus(y), ops.Log(ops.OneMinus(p))))))
	first := grad.Of(loss, z)[0]
	second := grad.Of(ops.Sum(first), z)[0]
	res, err := Run(g, []*graph.Node{loss, first, second}, Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	feed := graph.Values{}
	for x, v := range map[*graph.Node][]float64{z: {-1000, -1, 0, 2, 1000}, y: {1, 0, 1, 0, 0}} {
		feed[res.Graph.Lookup(x.Path())] = graph.Value{Type: x.Type(), Data: v}
	}
	got, err := ref.Eval(trait.Env{}, feed, res.Node(loss), res.Node(first), res.Node(second))
	if err != nil {
		t.Fatal(err)
	}
	σ := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	want := [][]float64{
		{1000 + math.Log1p(math.Exp(-1)) + math.Log(2) + math.Log1p(math.Exp(2)) + 1000},
		{-1, σ(-1), -0.5, σ(2), 1},
		{0, σ(-1) * σ(1), 0.25, σ(2) * σ(-2), 0},
	}
	for k, w := range want {
		if d := distance(got[k].Data, w); !(d < 1e-12) {
			t.Errorf("derivative %d is %v, want %v\n%s", k, got[k].Data, w, res.LogText())
		}
	}
}
