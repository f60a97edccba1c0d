package lab_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
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
			ari, err := metric.AdjustedRand(v.Runs[o.Runs[0]].Assigned, v.Runs[i].Assigned)
			if err != nil || ari != 1 {
				t.Errorf("runs %d and %d are put together: ARI %v, %v", o.Runs[0], i, ari, err)
			}
		}
	}
	if slices.Sort(all); len(all) != len(v.Runs) || all[0] != 0 || all[len(all)-1] != len(v.Runs)-1 {
		t.Errorf("the runs are not divided: %v", all)
	}
}

// TestStoppedRunsAreAtNoOptimum: where runs were stopped that have not come to rest is no optimum.
func TestStoppedRunsAreAtNoOptimum(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Iris(), Steps: 60, Objectives: []string{"kmeans-softmax"}, Alone: true, Seeds: 3})
	if err != nil {
		t.Fatal(err)
	}
	if v := res.Variants[0]; v.Moving() != 3 || len(v.Optima()) != 0 || v.Collapsed() != 0 {
		t.Errorf("%d of 3 runs move, %d collapsed, and the optima are %+v", v.Moving(), v.Collapsed(), v.Optima())
	}
}

// TestCollapsedRunsAreCounted: with so large a rate the goofy objective leaves centres that no
// point is nearest to, or that lie on each other.
func TestCollapsedRunsAreCounted(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Iris(), Steps: 5000, Rate: train.Constant(0.5), Objectives: []string{"kmeans-softmax", "kmeans-goofy"}, Alone: true, Seeds: 3})
	if err != nil {
		t.Fatal(err)
	}
	if n := res.Variants[0].Collapsed(); n != 0 {
		t.Errorf("soft k-means: %d", n)
	}
	if v := res.Variants[1]; v.Collapsed() != 3 || v.Runs[0].Groups > 2 || v.Moving() != 0 {
		t.Errorf("goofy: %d collapsed, %d groups, %d move", v.Collapsed(), v.Runs[0].Groups, v.Moving())
	}
}

// TestSameGroupsElsewhere: a run of the goofy objective puts the points into the same groups as
// seven others, with centres that lie elsewhere and an inertia 0.8 % larger: an optimum of its own.
func TestSameGroupsElsewhere(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Iris(), Objectives: []string{"kmeans-goofy"}, Alone: true, Seeds: 10, SweepGamma: []float64{}, SweepK: []int{}})
	if err != nil {
		t.Fatal(err)
	}
	v := res.Variants[0]
	optima := v.Optima()
	for _, o := range optima {
		for _, i := range o.Runs {
			if d := v.Runs[i].Inertia() - o.Inertia; d < 0 || d > 1e-3 {
				t.Errorf("seed %d ended at %v, and is said to be at %v", i, v.Runs[i].Inertia(), o.Inertia)
			}
		}
	}
	if len(optima) != 4 || len(optima[0].Runs) != 7 || len(optima[2].Runs) != 1 || optima[2].Runs[0] != 8 {
		t.Errorf("%+v", optima)
	}
}
