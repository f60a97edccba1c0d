package lab

import "slices"

// Match pairs centres with those of a reference, the closest pair first: centre
// Match[j] of the second argument belongs to centre j of the first. Both are
// row-major [k d].
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
			pairs = append(pairs, pair{a, b, sqDist(reference[a*d:(a+1)*d], centres[b*d:(b+1)*d])})
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int {
		switch {
		case p.far < q.far:
			return -1
		case p.far > q.far:
			return 1
		}
		return 0
	})
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
