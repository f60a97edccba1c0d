package lab

import (
	"cmp"
	"math"
	"slices"
)

// Optimum is a local optimum to which runs of a clustering converged: they have the same groups of
// points, whatever the order of the centres, and the same inertia.
type Optimum struct {
	Inertia float64 // the least of the runs
	Runs    []int   // indices into Clustering.Runs, increasing
}

// SameInertia is the largest relative difference of inertias that [Clustering.Optima] takes for
// equal.
const SameInertia = 1e-4

// Optima returns the different optima that runs converged to, by increasing inertia. Runs that have
// not converged are left out. Two runs share an optimum if they put all points into the same groups
// and their inertias agree up to [SameInertia] and to what centres at rest may still move
// ([AtRest]). Both conditions are needed: different groups may have inertias that agree to some
// digits, and equal groups may have different centres, because not every objective puts them at the
// means.
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

// byInertia returns the indices of the runs by increasing inertia.
func (v Clustering) byInertia() []int {
	order := make([]int, len(v.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.Runs[a].Inertia(), v.Runs[b].Inertia()) })
	return order
}

// Collapsed returns the number of runs that did not diverge and ended with fewer groups of points
// than centres, because centres are [Coinciding] or nearest to no point. The inertia and spread of
// such runs are not those of k groups, and do not compare with those of runs that have k.
func (v Clustering) Collapsed() int {
	if v.Model == nil || v.Model.Centres() == nil || !v.Model.Centres().IsValid() {
		return 0 // nothing was run
	}
	n, k := 0, v.Model.Centres().Dim(0)
	for _, r := range v.Runs {
		if r.Groups < k && r.Diverged == 0 {
			n++
		}
	}
	return n
}

// coinciding is the distance, in units of the data's scale, below which centres count as one.
const coinciding = 0.01

// Coinciding returns the group of each of k centres, row-major [k d]. Two centres are in one group
// if they are nearer to each other than a hundredth of scale (see [Scale]), or if a chain of such
// pairs joins them. A group has the number of one of its centres. The result is nil for k < 1 and
// where k does not divide the number of values.
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

// groups returns the number of groups of centres that points are assigned to.
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
