package fit_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Meta": fit.Meta, "Nets": fit.Nets, "Parse": fit.Parse, "ParseBinding": fit.ParseBinding,
			"Deal": fit.Deal, "RowSetting": fit.RowSetting, "To": fit.To,
		},
		Types: []any{fit.Binding{}, fit.Fitted{}, fit.Mismatch{}, fit.Options{}},
		Samples: func() []any {
			b := registered(t, "loss-cross-entropy")
			c := builtin(t, "iris")
			f, err := fit.To(b, nil, graph.F64, c, fit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m, err := f.Model()
			if err != nil {
				t.Fatal(err)
			}
			return []any{b, c, f, m, fit.Binding{Input: "x", Columns: []string{"sepal_length"}}, builders.Settings{"i": 3}, graph.F32, 3, train.Training, "x=a", uint64(1)}
		},
	})
}
