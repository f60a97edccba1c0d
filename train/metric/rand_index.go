package metric

import "fmt"

// AdjustedRand returns the adjusted Rand index of two clusterings of the same n items, where a[i]
// and b[i] are the clusters of item i: 1 if they agree up to the names of the clusters, about 0 if
// they agree no more than by chance, never below −1/2 (Hubert and Arabie, Comparing partitions,
// Journal of Classification 2, 1985). As in scikit-learn, clusterings that disagree on no pair
// score 1, so fewer than two items do, and so does a single cluster on both sides. It is an error
// if the lengths differ. [ARI] measures a model's output by it.
func AdjustedRand(a, b []int) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("adjusted rand index: %d items in one clustering and %d in the other", len(a), len(b))
	}
	inA, inB, inBoth := map[int]int{}, map[int]int{}, map[[2]int]int{}
	for i := range a {
		inA[a[i]]++
		inB[b[i]]++
		inBoth[[2]int{a[i], b[i]}]++
	}
	// Every pair of items is together in both clusterings, in a alone, in b
	// alone or in neither. Counts are exact; products would overflow integers.
	both := pairs(inBoth)
	onlyA := pairs(inA) - both
	onlyB := pairs(inB) - both
	neither := float64(len(a))*float64(len(a)-1)/2 - both - onlyA - onlyB
	if onlyA == 0 && onlyB == 0 {
		return 1, nil
	}
	return 2 * (both*neither - onlyA*onlyB) /
		((both+onlyA)*(onlyA+neither) + (both+onlyB)*(onlyB+neither)), nil
}

// pairs returns the number of unordered pairs of items that share a cluster.
func pairs[K comparable](sizes map[K]int) float64 {
	sum := int64(0)
	for _, n := range sizes {
		sum += int64(n) * int64(n-1) / 2
	}
	return float64(sum)
}
