package lab_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestCustomStart: a model whose parameters start by a function of the user's is compared as any, and
// a function that fails is named.
func TestCustomStart(t *testing.T) {
	model := func(values ...float64) *builders.Model {
		start := initial.Custom("own", func([]int, *rand.Rand) []float64 { return values })
		m, err := builders.Define(builders.Builder{Name: "own-start"}, func(_ builders.Settings, dt graph.DType, m *builders.Model) {
			x := m.Graph.Input("x", dt, graph.Ax("n", 2))
			w := m.Graph.Param("w", dt, graph.Ax("n", 2)).Init(start)
			m.Output = ops.Mul(w, x).As("y")
			m.Loss = ops.Mean(ops.Square(m.Output)).As("loss")
			m.Examples = func(*rand.Rand) graph.Values {
				return graph.Values{x: {Type: x.Type(), Data: []float64{1, 1}}}
			}
		}).Build(nil, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := model(3, 4)
	s, err := lab.NewStore(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := s.Get("w"); err != nil || w.Float64s()[1] != 4 {
		t.Errorf("%v, %v", w, err)
	}
	if _, err := lab.NewStore(model(1), 1); err == nil || !strings.Contains(err.Error(), "param w: initialiser custom(own): its function returned 1 value for sizes [2]: want 2") {
		t.Error(err)
	}
}
