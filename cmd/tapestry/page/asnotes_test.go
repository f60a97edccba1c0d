package page

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
)

// TestOwnOptimiser: a model that has an optimiser of its own is trained by it in the page, by default
// or as the notes have it, unless another is asked for.
func TestOwnOptimiser(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	for _, c := range []struct {
		model     Model
		optimiser string
		rate      float64
	}{
		{Model{Name: "regression-minimum-norm", DType: "f64"}, "sgd", 0.1},
		{Model{Name: "regression-minimum-norm", DType: "f64", Rate: 0.2}, "sgd", 0.2},
		{Model{Name: "regression-minimum-norm", DType: "f64", Optimiser: "adam"}, "adam", 0.01},
		{Model{Name: "regression-minimum-norm", DType: "f64", Settings: builders.Settings{"n": 2}}, "sgd", 0.2},
		{Model{Name: "regression-ols", DType: "f64"}, "adam", 0.01},
		{Model{Name: "regression-ols", DType: "f64", AsNotes: true}, "sgd", 0.25 / 16},
		{Model{Name: "kmeans-softmax", Data: "iris", DType: "f64", AsNotes: true}, "sgd", 0.5},
	} {
		if err := s.Open(t.Context(), c.model); err != nil {
			t.Fatal(err)
		}
		docs := s.shelf.all()
		d := docs[len(docs)-1]
		if d.asked.Optimiser != c.optimiser || d.asked.Rate != c.rate {
			t.Errorf("%+v is trained by %s(%v), want %s(%v)", c.model, d.asked.Optimiser, d.asked.Rate, c.optimiser, c.rate)
		}
		if γ := d.model.Gamma(); γ != nil && (len(d.session.feeder.courses) != 0 || d.session.feeder.scalars[γ] < 3 || d.session.feeder.begins.String() != "points") {
			t.Errorf("%+v: γ goes %v, centres begin at %v", c.model, d.session.feeder.courses, d.session.feeder.begins)
		}
	}
}
