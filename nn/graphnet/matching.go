package graphnet

import (
	"cmp"
	"fmt"
	"slices"
)

// Matching returns clusters for [Clusters], computed beforehand from the topology alone: for each of
// n nodes the number of its cluster, 0, 1, … in the order of their first nodes. A cluster is two
// nodes that are linked, or one whose neighbours all have found another. It is the greedy matching
// by which Graclus coarsens a graph (Dhillon, Guan & Kulis, 2007), as Defferrard et al. (2016) pool
// by it: nodes come in the order of their degree, those with the fewest links first, and each takes
// the free neighbour with the largest
//
//	A_ij·(1/d_i + 1/d_j),  d_i = Σ_j A_ij
//
// and of equal ones the first. A is n×n by rows; only positive strengths link, and in both
// directions. Another length of A is an error.
func Matching(A []float64, n int) ([]int, error) {
	if n < 0 || n > 0 && len(A)/n != n || len(A) != n*n {
		return nil, fmt.Errorf("Matching: %d numbers for the links of %d nodes: want as many as its square", len(A), n)
	}
	link := func(i, j int) float64 {
		if i == j {
			return 0
		}
		return (max(0, A[i*n+j]) + max(0, A[j*n+i])) / 2
	}
	degree, order, cluster := make([]float64, n), make([]int, n), make([]int, n)
	for i := range n {
		order[i], cluster[i] = i, -1
		for j := range n {
			degree[i] += link(i, j)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(degree[i], degree[j]) })
	partner := slices.Clone(cluster)
	for _, i := range order {
		if partner[i] >= 0 {
			continue
		}
		best, most := i, 0.0
		for j := range n {
			if w := link(i, j); partner[j] < 0 && w > 0 {
				if w *= 1/degree[i] + 1/degree[j]; w > most {
					best, most = j, w
				}
			}
		}
		partner[i], partner[best] = best, i
	}
	next := 0
	for i, j := range partner {
		if cluster[i] < 0 {
			cluster[i], cluster[j] = next, next
			next++
		}
	}
	return cluster, nil
}
