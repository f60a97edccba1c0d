package lab_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestOptima: Lloyd's algorithm on iris has two optima 0.005 % apart, which are two; the
// order of the centres makes none.
func TestOptima(t *testing.T) {
	v, err := lab.Config{Table: data.Iris()}.Lloyd(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	optima := v.Optima()
	if len(optima) < 2 || math.Abs(optima[0].Inertia-78.85144) > 1e-5 || math.Abs(optima[1].Inertia-78.85567) > 1e-5 {
		t.Fatalf("%+v", optima)
	}
	if a, b := len(optima[0].Runs), len(optima[1].Runs); a != 24 || b != 22 {
		t.Errorf("%d and %d runs, want 24 and 22", a, b)
	}
	var all []int
	for _, o := range optima {
		all = append(all, o.Runs...)
		for _, i := range o.Runs {
			ari, err := data.ARI(v.Runs[o.Runs[0]].Assigned, v.Runs[i].Assigned)
			if err != nil || ari != 1 {
				t.Errorf("runs %d and %d are put together: ARI %v, %v", o.Runs[0], i, ari, err)
			}
		}
	}
	if slices.Sort(all); len(all) != len(v.Runs) || all[0] != 0 || all[len(all)-1] != len(v.Runs)-1 {
		t.Errorf("the runs are not divided: %v", all)
	}
}
