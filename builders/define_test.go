package builders_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// A builder of one's own is checked as those of the registry are.
func TestDefine(t *testing.T) {
	b := builders.Define(builders.Builder{Name: "own", Title: "one's own", Hyperparameters: []builders.Hyperparameter{{Name: "n", Default: 3, Kind: builders.Count}}},
		func(s builders.Settings, dt graph.DType, m *builders.Model) {
			m.Output = ops.Square(m.Graph.Input("x", dt, graph.Ax("i", s.Int("n"))))
		})
	m, err := b.Build(builders.Settings{"n": 5}, graph.F64)
	if err != nil || m.Output.Type().String() != "f64[i=5]" || m.Builder.Name != "own" || m.Result() != m.Output {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := b.Build(builders.Settings{"n": 0}, graph.F64); err == nil || err.Error() != "own: n = 0: want a whole number of at least 1" {
		t.Errorf("error %v", err)
	}
	if s := builders.Choice.String() + " " + builders.Real.String(); s != "choice real" {
		t.Errorf("kinds are called %s", s)
	}
}
