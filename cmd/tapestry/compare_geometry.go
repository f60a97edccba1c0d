package main

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// shape looks at the losses of clusterings that were trained on one table, in float64.
type shape struct {
	res   *lab.Clusterings
	sites []geometry.Site // of the variants, fed with all rows
}

func newShape(res *lab.Clusterings) (*shape, error) {
	c := res.Config
	s := &shape{res: res}
	for _, v := range res.Variants {
		site, err := geometry.ClusterSite(c.Table, v.Model.Builder, c.K, 0, c.Seed, graph.F64)
		if err != nil {
			return nil, err
		}
		if γ := site.Model.Gamma(); γ != nil {
			site.Feed[γ] = tape.Scalar(graph.F64, s.gamma())
		}
		s.sites = append(s.sites, site)
	}
	return s, nil
}

// gamma returns the γ with which training ends.
func (s *shape) gamma() float64 { return ends(s.res.Config.Scheduled["γ"], s.res.Config.Steps)[1] }

// page adds to a page how the gradients of each pair of variants differ, what flows through the
// weights, and where gradients vanish.
func (s *shape) page(ctx context.Context, p *report.Page, pairs [][2]int) error {
	for _, pair := range pairs {
		g, err := s.gradients(ctx, pair)
		if err != nil {
			return err
		}
		if g == nil {
			continue
		}
		p.Gradients = append(p.Gradients, *g)
		if g.Known && len(s.sites) == 2 && p.Difference.Identity == "" { // models of other names
			p.Difference = difference("kmeans-softmax", "kmeans-goofy")
			p.Difference.Words = ""
		}
	}
	for v := range s.sites {
		w, err := s.weights(ctx, v)
		if err != nil {
			return err
		}
		if w != nil {
			p.Weights = append(p.Weights, *w)
		}
	}
	return s.stationary(ctx, p)
}

// middle returns the run of median inertia, the lower of two, among those that did not diverge; nil
// if all did.
func middle(v lab.Clustering) *lab.ClusterRun {
	var runs []lab.ClusterRun
	for _, r := range v.Runs {
		if r.Diverged == 0 && len(r.Path) > 1 {
			runs = append(runs, r)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	slices.SortStableFunc(runs, func(a, b lab.ClusterRun) int { return cmp.Compare(a.Inertia(), b.Inertia()) })
	return &runs[(len(runs)-1)/2]
}

// evenly returns at most n indices below of, evenly spread, with both ends.
func evenly(n, of int) []int {
	var out []int
	for i := range n {
		out = append(out, i*(of-1)/max(1, n-1))
	}
	return slices.Compact(out)
}

// stops returns places along a run, those with the given indices among its measurements.
func stops(r *lab.ClusterRun, indices []int) []geometry.Stop {
	var out []geometry.Stop
	for _, i := range indices {
		out = append(out, geometry.Stop{At: r.Path[i], Scalars: map[string]float64{"γ": r.Gamma[i]}})
	}
	return out
}

// fedGamma returns the γ of a place if one of the models is fed it, and NaN otherwise.
func fedGamma(γ float64, sites ...geometry.Site) float64 {
	if slices.ContainsFunc(sites, func(s geometry.Site) bool { return s.Model.Gamma() != nil }) {
		return γ
	}
	return math.NaN()
}

func length(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// between returns the angle between two vectors in degrees; NaN if one of them is 0.
func angleBetween(a, b []float64) float64 {
	dot := 0.0
	for i := range a {
		dot += a[i] * b[i]
	}
	return math.Acos(min(1, max(-1, dot/(length(a)*length(b))))) * 180 / math.Pi
}
