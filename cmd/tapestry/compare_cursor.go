package main

import (
	"math"
	"slices"
	"sort"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// mostAssigned is the largest number of rows that the report joins to their centres.
const mostAssigned = 5000

// assignments returns the centres that are nearest to the rows where the report's cursor stops in
// the best run, in the order of the reference; nil for more than mostAssigned rows.
func assignments(res *lab.Clusterings, v lab.Clustering, reference []float64) []report.Assignment {
	t := res.Config.Table
	if t.Rows() > mostAssigned {
		return nil
	}
	best := v.Best()
	order := lab.Match(reference, best.Centres(), len(t.Columns))
	var out []report.Assignment
	for _, step := range report.Stops(res.Config.Steps) {
		if i := sort.SearchInts(best.At, step+1) - 1; i >= 0 {
			out = append(out, report.Assignment{Step: step, Nearest: nearest(t, ordered(best.Path[i], order, len(t.Columns)))})
		}
	}
	return out
}

// sweepEnds returns where the best runs of the sweep over γ ended, by objective and γ, with their
// centres in the order of the reference.
func sweepEnds(res *lab.Clusterings, reference []float64) [][]report.End {
	t := res.Config.Table
	var out [][]report.End
	for _, o := range res.Config.Objectives {
		var row []report.End
		for _, p := range res.Gamma {
			if p.Objective != o {
				continue
			}
			r := p.Best
			centres := ordered(r.Centres(), lab.Match(reference, r.Centres(), len(t.Columns)), len(t.Columns))
			e := report.End{Seed: r.Seed, Inertia: r.Inertia(), Loss: r.Loss[len(r.Loss)-1], Spread: r.Final().Spread, Unsettled: !r.Rest.Converged()}
			for c := range slices.Chunk(centres, len(t.Columns)) {
				e.At = append(e.At, res.Plane.At(c))
			}
			if t.Rows() <= mostAssigned {
				e.Nearest = nearest(t, centres)
			}
			row = append(row, e)
		}
		out = append(out, row)
	}
	return out
}

// ordered returns centres of d features, row-major, in another order.
func ordered(centres []float64, order []int, d int) []float64 {
	out := make([]float64, 0, len(centres))
	for _, j := range order {
		out = append(out, centres[j*d:(j+1)*d]...)
	}
	return out
}

// nearest returns the nearest centre of each row of a table, the first among equals.
func nearest(t *data.Table, centres []float64) []int {
	d := len(t.Columns)
	out := make([]int, t.Rows())
	for i := range out {
		least := math.Inf(1)
		for j := range len(centres) / d {
			far := 0.0
			for f, x := range t.X[i*d : (i+1)*d] {
				far += float64((x - centres[j*d+f]) * (x - centres[j*d+f]))
			}
			if far < least {
				out[i], least = j, far
			}
		}
	}
	return out
}
