package lab_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// TestOwnOptimisersAreCompared: an optimiser of the user's and one that searches along lines are
// compared as those that ship: by name, from the same start, on the same examples.
func TestOwnOptimisersAreCompared(t *testing.T) {
	signed := train.Custom("signed", 0.05, func(m *train.Minimizing, p, gradient *graph.Node) *graph.Node {
		return ops.Sub(p, ops.Mul(m.Rate(p), ops.Sign(gradient)))
	})
	bowl := lab.Variant{Name: "bowl", Build: func(dt graph.DType) (*builders.Model, error) {
		return builders.Define(builders.Builder{Name: "bowl", Title: "bowl"}, func(_ builders.Settings, dt graph.DType, m *builders.Model) {
			x := m.Graph.Input("x", dt, graph.Ax("n", 4), graph.Ax("d", 2))
			w := m.Graph.Param("w", dt, graph.Ax("d", 2)).Init(initial.Normal(0, 1))
			m.Output = ops.Sub(ops.Einsum("n d, d -> n", x, w), ops.At(x, "d", 0)).As("y")
			m.Loss = ops.Mean(ops.Square(m.Output)).As("loss")
			m.Examples = func(*rand.Rand) graph.Values {
				return graph.Values{x: {Type: x.Type(), Data: []float64{1, 0, 0, 1, 1, 1, 2, -1}}}
			}
		}).Build(nil, dt)
	}}
	c := lab.Config{Seeds: 2, Seed: 1, Steps: 30, DType: graph.F64, Optimisers: []train.Optimiser{signed, train.LBFGS(), train.Adam(0.05)}}
	res, err := lab.Compare(t.Context(), c, bowl)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"signed(0.05)", "lbfgs(1)", "adam(0.05)"} {
		if got := res.OptimiserName(0, lab.Setting{Optimiser: i}); got != name {
			t.Errorf("optimiser %d is called %s, want %s", i, got, name)
		}
		for _, cell := range res.Cells(0, lab.Setting{Optimiser: i}) {
			first, end := cell.Loss[0], cell.Loss[len(cell.Loss)-1]
			if !(end < first) || i == 1 && end > 1e-20 {
				t.Errorf("%s goes from loss %v to %v", name, first, end)
			}
		}
	}
}
