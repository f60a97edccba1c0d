package lab

import (
	"cmp"
	"slices"
)

// Optimum is where some runs of a clustering ended: at the same groups of points, whatever
// the order of their centres.
type Optimum struct {
	Inertia float64 // the least of its runs
	Runs    []int   // indices, in order
	Moving  int     // how many of them have not converged, so that they may still leave it
}

// Optima are the different groupings that the runs of a clustering ended in, the one of
// least inertia first. Two runs are at the same optimum if they put all points into the
// same groups: inertias that agree to some digits may still be of different groups.
func (v Clustering) Optima() []Optimum {
	var out []Optimum
	var groups [][]int
	for i, r := range v.Runs {
		g := grouping(r.Assigned)
		at := slices.IndexFunc(groups, func(other []int) bool { return slices.Equal(g, other) })
		if at < 0 {
			at, groups, out = len(groups), append(groups, g), append(out, Optimum{Inertia: r.Inertia()})
		}
		o := &out[at]
		o.Inertia, o.Runs = min(o.Inertia, r.Inertia()), append(o.Runs, i)
		if !r.Rest.Converged() {
			o.Moving++
		}
	}
	slices.SortStableFunc(out, func(a, b Optimum) int { return cmp.Compare(a.Inertia, b.Inertia) })
	return out
}

// grouping numbers the groups of points in the order in which they appear.
func grouping(assigned []int) []int {
	number, out := map[int]int{}, make([]int, len(assigned))
	for i, a := range assigned {
		if _, known := number[a]; !known {
			number[a] = len(number)
		}
		out[i] = number[a]
	}
	return out
}
