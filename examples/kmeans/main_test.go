package main

import (
	"context"
	"io"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestFamily: every method comes near the least inertia there is for three clusters of iris, and
// the softmax idea's loss is the goofy alternative's and the spread, which is what is drawn.
func TestFamily(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{
		Table: data.Iris(), K: 3, Seeds: 2, Steps: 150, SweepGamma: []float64{low}, SweepK: []int{3}, SweepSeeds: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	family := append(res.Baselines, res.Variants...)
	for _, m := range family {
		ends := inertias(m.Runs)
		if !(ends[0] >= 78.85 && ends[0] < 90) || ends[0] != m.Best().Inertia() {
			t.Errorf("%s ends at an inertia of %v", m.Name, ends)
		}
		if end := m.Best().Final(); math.Abs(end.Soft-end.Goofy-end.Spread) > 1e-9 {
			t.Errorf("%s: soft %g, goofy %g, spread %g", m.Name, end.Soft, end.Goofy, end.Spread)
		}
	}
	if err := centres(res, family)(io.Discard); err != nil {
		t.Error(err)
	}
	if err := temperature(res, res.Variants)(io.Discard); err != nil {
		t.Error(err)
	}
}
