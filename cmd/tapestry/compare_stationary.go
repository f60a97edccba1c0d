package main

import (
	"context"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// starts returns the start vectors of descents: as many as there are restarts, but not more than
// take about as long as the trainings. Known places where no gradient separates centres follow: all
// at the mean, and two at one place.
func (s *shape) starts() (starts [][]float64, drawn int) {
	c := s.res.Config
	drawn = min(c.Restarts, max(3, c.Seeds*c.Steps/200))
	if c.Start == lab.StartGiven {
		drawn = 1
	}
	for i := range drawn {
		if c.Start == lab.StartGiven {
			starts = append(starts, c.Given)
			continue
		}
		starts = append(starts, lab.Centres(c.Table, c.K, c.Start, c.Seed+uint64(i)))
	}
	starts = append(starts, slices.Repeat(s.res.Plane.Mean, c.K))
	for i := range min(drawn, 3) {
		if c.K > 1 {
			fewer := lab.Centres(c.Table, c.K-1, lab.PlusPlus, c.Seed+uint64(i))
			starts = append(starts, slices.Concat(fewer, fewer[:len(s.res.Plane.Mean)]))
		}
	}
	return starts, drawn
}

// stationary adds to a page where the gradient of each variant vanishes at the γ with which training
// ends, and the number of minima at every γ of the sweep.
func (s *shape) stationary(ctx context.Context, p *report.Page) error {
	starts, drawn := s.starts()
	for v := range s.sites {
		found, err := s.sites[v].Stationary(ctx, geometry.StationaryConfig{}, starts...)
		if err != nil {
			return err
		}
		of := report.Stationary{Variant: v, Gamma: fedGamma(s.gamma(), s.sites[v]), Starts: drawn, Moving: drawn}
		if of.Points, err = s.points(ctx, v, found.Points); err != nil {
			return err
		}
		for i, q := range found.Points {
			of.Points[i].Starts = reached(q, drawn)
			of.Moving -= of.Points[i].Starts
		}
		p.Stationary = append(p.Stationary, of)
	}
	return s.minima(ctx, p, starts[:min(drawn, mostSwept)])
}

// mostSwept is the largest number of starts at each value of a sweep.
const mostSwept = 20

// minima adds to a sweep over γ the number of minima that descents come to.
func (s *shape) minima(ctx context.Context, p *report.Page, starts [][]float64) error {
	sweep := slices.IndexFunc(p.Sweeps, func(w report.Sweep) bool { return w.Name == "γ" })
	if sweep < 0 {
		return nil
	}
	p.Sweeps[sweep].Starts = len(starts)
	var at []map[string]float64
	for _, γ := range p.Sweeps[sweep].Values {
		at = append(at, map[string]float64{"γ": γ})
	}
	for v := range s.sites {
		found, err := s.sites[v].StationaryAlong(ctx, geometry.StationaryConfig{}, at, starts...)
		if err != nil {
			return err
		}
		var counts []float64
		for _, t := range found {
			n := 0
			for _, q := range t.Points {
				if q.Bends() == geometry.Minimum {
					n++
				}
			}
			counts = append(counts, float64(n))
		}
		p.Sweeps[sweep].Minima = append(p.Sweeps[sweep].Minima, counts)
	}
	return nil
}

// reached returns how many of the first starts led to a point.
func reached(q geometry.StationaryPoint, starts int) int {
	n := 0
	for _, i := range q.Starts {
		if i < starts {
			n++
		}
	}
	return n
}

// points measures stationary points of a variant.
func (s *shape) points(ctx context.Context, v int, found []geometry.StationaryPoint) ([]report.Point, error) {
	var out []report.Point
	var at []geometry.Stop
	for _, q := range found {
		p := report.Point{Loss: q.Loss, Gradient: q.Gradient, Least: math.NaN(), Most: math.NaN(), Kind: q.Bends().String(),
			Inertia: math.NaN(), Spread: math.NaN(), Onward: math.NaN(), At: s.res.Plane.Points(q.At)}
		if n := len(q.Eigenvalues); n > 0 {
			p.Least, p.Most = q.Eigenvalues[0], q.Eigenvalues[n-1]
		}
		for j, group := range lab.Coinciding(q.At, s.res.Config.K, lab.Scale(s.res.Config.Table)) {
			if j == group {
				p.Distinct++
			}
		}
		out, at = append(out, p), append(at, geometry.Stop{At: q.At, Scalars: map[string]float64{"γ": s.gamma()}})
	}
	if len(out) == 0 {
		return nil, nil
	}
	if spread, ok := s.sites[v].Spread(); ok {
		d, err := geometry.Decompose(ctx, at, spread)
		if err != nil {
			return nil, err
		}
		for i, q := range d.Stops {
			out[i].Spread, out[i].Onward = q.Loss, length(q.Gradient)
		}
	}
	c := s.res.Config
	b, err := c.Find("kmeans-lloyd") // whose loss is the inertia, per row
	if err != nil {
		return nil, err
	}
	hard, err := geometry.ClusterSite(c.Table, b, c.K, 0, c.Seed, graph.F64)
	if err != nil {
		return nil, err
	}
	d, err := geometry.Decompose(ctx, at, hard)
	if err != nil {
		return nil, err
	}
	for i, q := range d.Stops {
		out[i].Inertia = q.Loss * float64(c.Table.Rows())
	}
	return out, nil
}
