package lab

import (
	"cmp"
	"math"
	"slices"
)

// Match pairs the centres of two clusterings of d features greedily, the closest pair first. Both
// are row-major [k d]; if one has more centres than the other, its last ones are left out. The
// result has the index of the partner in centres for each centre of reference. It is nil for d < 1.
func Match(reference, centres []float64, d int) []int {
	if d < 1 {
		return nil
	}
	k := min(len(reference), len(centres)) / d
	type pair struct {
		from, to int
		far      float64
	}
	var pairs []pair
	for a := range k {
		for b := range k {
			far := sqDist(reference[a*d:(a+1)*d], centres[b*d:(b+1)*d])
			if math.IsNaN(far) {
				far = math.Inf(1)
			}
			pairs = append(pairs, pair{a, b, far})
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(p.far, q.far) })
	out := make([]int, k)
	for j := range out {
		out[j] = -1
	}
	taken := make([]bool, k)
	for _, p := range pairs {
		if out[p.from] < 0 && !taken[p.to] {
			out[p.from], taken[p.to] = p.to, true
		}
	}
	return out
}
