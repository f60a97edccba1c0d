package lab

import (
	"cmp"
	"slices"
)

// Optimum is where some runs of a clustering came to rest: at the same groups of points,
// whatever the order of their centres.
type Optimum struct {
	Inertia float64 // the least of its runs
	Runs    []int   // indices, in order
}

// Optima are the different groupings in which the runs of a clustering that have converged
// ended, the one of least inertia first; where another was stopped is none. Two runs are at the same optimum if they put all points into the
// same groups: inertias that agree to some digits may still be of different groups.
func (v Clustering) Optima() []Optimum {
	var out []Optimum
	var groups [][]int
	for i, r := range v.Runs {
		if !r.Rest.Converged() {
			continue
		}
		g := grouping(r.Assigned)
		at := slices.IndexFunc(groups, func(other []int) bool { return slices.Equal(g, other) })
		if at < 0 {
			at, groups, out = len(groups), append(groups, g), append(out, Optimum{Inertia: r.Inertia()})
		}
		o := &out[at]
		o.Inertia, o.Runs = min(o.Inertia, r.Inertia()), append(o.Runs, i)
	}
	slices.SortStableFunc(out, func(a, b Optimum) int { return cmp.Compare(a.Inertia, b.Inertia) })
	return out
}

// Collapsed counts the runs that ended with fewer groups of points than centres: some of these
// lie on each other, or no point is nearest to them. What depends on the number of centres, as
// the inertia and the spread, is not to be compared with runs that use all.
func (v Clustering) Collapsed() int {
	if v.Model == nil || v.Model.KMeans == nil || !v.Model.KMeans.Centres.IsValid() {
		return 0 // nothing was run
	}
	n, k := 0, v.Model.KMeans.Centres.Dim(0)
	for _, r := range v.Runs {
		if r.Groups < k {
			n++
		}
	}
	return n
}

// groups is the number of different groups of centres that points are assigned to.
func groups(assigned, group []int) int {
	met := map[int]bool{}
	for _, a := range assigned {
		met[group[a]] = true
	}
	return len(met)
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
