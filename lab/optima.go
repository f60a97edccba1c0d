package lab

import (
	"cmp"
	"math"
	"slices"
)

// Optimum is where some runs of a clustering came to rest: at the same groups of points,
// whatever the order of their centres, and the same inertia.
type Optimum struct {
	Inertia float64 // the least of its runs
	Runs    []int   // indices, in order
}

// SameInertia is the share up to which [Clustering.Optima] takes two inertias for the same.
const SameInertia = 1e-4

// Optima are the different places in which the runs of a clustering that have converged
// ended, the one of least inertia first; where another was stopped is none. Two runs are at
// the same optimum if they put all points into the same groups and their inertias agree up
// to [SameInertia]: inertias that agree to some digits may be of different groups, and the
// centres of the same groups may lie elsewhere, where an objective wants more of them than to
// be means.
func (v Clustering) Optima() []Optimum {
	var out []Optimum
	var groups [][]int
	for _, i := range v.byInertia() {
		r := v.Runs[i]
		if !r.Rest.Converged() {
			continue
		}
		g := grouping(r.Assigned)
		at := -1
		for j := range out {
			if slices.Equal(g, groups[j]) && r.Inertia()-out[j].Inertia <= SameInertia*out[j].Inertia+r.slack {
				at = j
				break
			}
		}
		if at < 0 {
			at, groups, out = len(groups), append(groups, g), append(out, Optimum{Inertia: r.Inertia()})
		}
		out[at].Runs = append(out[at].Runs, i)
	}
	for _, o := range out {
		slices.Sort(o.Runs)
	}
	return out
}

// byInertia are the indices of the runs, the one of least inertia first.
func (v Clustering) byInertia() []int {
	order := make([]int, len(v.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.Runs[a].Inertia(), v.Runs[b].Inertia()) })
	return order
}

// Collapsed counts the runs that came to an end with fewer groups of points than centres: some of these
// lie on each other, or no point is nearest to them. What depends on the number of centres, as
// the inertia and the spread, is not to be compared with runs that use all.
func (v Clustering) Collapsed() int {
	if v.Model == nil || v.Model.KMeans == nil || !v.Model.KMeans.Centres.IsValid() {
		return 0 // nothing was run
	}
	n, k := 0, v.Model.KMeans.Centres.Dim(0)
	for _, r := range v.Runs {
		if r.Groups < k && r.Diverged == 0 {
			n++
		}
	}
	return n
}

// coinciding is the distance, in units of the data's scale, below which centres count as one.
const coinciding = 0.01

// Coinciding returns for each of k centres, row-major [k d], the number of its group: centres
// nearer to each other than a hundredth of scale, and those that a chain of such pairs joins, are
// one group. See [Scale].
func Coinciding(centres []float64, k int, scale float64) []int {
	if k < 1 || len(centres)%k != 0 {
		return nil
	}
	d := len(centres) / k
	group := make([]int, k)
	for a := range group {
		group[a] = a
		for b := range a {
			if from, to := group[a], group[b]; math.Sqrt(sqDist(centres[a*d:(a+1)*d], centres[b*d:(b+1)*d]))/scale < coinciding {
				for j := range group[:a+1] {
					if group[j] == from {
						group[j] = to
					}
				}
			}
		}
	}
	return group
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
