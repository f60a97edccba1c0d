package main

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestReportFollowsTheTape: what the sliders show of a run and of a sweep is what the tape gave:
// the points' nearest centres, and the inertia that they add up to.
func TestReportFollowsTheTape(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Iris(), K: 3, Seeds: 2, Steps: 20, SweepSeeds: 2, SweepGamma: []float64{.1, 10}, SweepK: []int{2},
		Objectives: []string{"kmeans-softmax", "kmeans-goofy"}, Alone: true, Start: lab.PlusPlus})
	if err != nil {
		t.Fatal(err)
	}
	x, d := res.Config.Table.X, len(res.Config.Table.Columns)
	first := res.Variants[0].Best().Centres()
	reference := slices.Concat(first[d:], first[:d]) // in another order
	for i, v := range res.Variants {
		best := v.Best()
		order := lab.Match(reference, best.Centres(), d)
		if i == 0 && slices.IsSorted(order) {
			t.Error("all centres are in order: nothing tells whether it is kept")
		}
		all := assignments(res, v, reference)
		if len(all) != 21 {
			t.Fatalf("%d assignments of 20 steps", len(all))
		}
		for row, j := range all[20].Nearest {
			if order[j] != best.Assigned[row] {
				t.Errorf("%s: row %d is nearest to %d, by the tape to %d", v.Name, row, order[j], best.Assigned[row])
			}
		}
		for _, a := range all {
			inertia := 0.0
			for row, j := range a.Nearest {
				for f := range d {
					inertia += math.Pow(x[row*d+f]-best.Path[a.Step][order[j]*d+f], 2)
				}
			}
			if want := best.Measures[a.Step].Inertia; math.Abs(inertia-want) > 1e-9*want {
				t.Errorf("%s, step %d: inertia %v, by the tape %v", v.Name, a.Step, inertia, want)
			}
		}
	}
	for v, row := range sweepEnds(res, reference) {
		for i, e := range row {
			p := res.Gamma[2*v+i]
			if e.Inertia != p.Best.Inertia() || e.Seed != p.Best.Seed || e.Inertia > p.Inertia || len(e.At) != 3 || len(e.Nearest) != 150 {
				t.Errorf("%s at γ = %v: %v of seed %d, and the median is %v", p.Objective, p.Value, e.Inertia, e.Seed, p.Inertia)
			}
		}
	}
	wide := *res
	wide.Config.Table = &data.Table{Columns: []string{"x"}, X: make([]float64, mostAssigned+1)}
	if assignments(&wide, res.Variants[0], nil) != nil {
		t.Error("more rows are joined than can be seen")
	}
}
