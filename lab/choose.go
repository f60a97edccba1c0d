package lab

import (
	"context"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
)

// Choice is the number of clusters that [Config.ChooseK] chose.
type Choice struct {
	K          int
	Clustering Clustering // all runs with K clusters
	Tried      []Trial    // one for each number of clusters
}

// Trial measures the best run with K clusters, that of least inertia over the seeds or over the
// restarts of Lloyd's algorithm.
type Trial struct {
	K          int
	Inertia    float64
	Silhouette float64
}

// ChooseK trains the named clustering, as [Config.Repeat] does, with each number of clusters from
// lo to hi. It chooses the number whose best run has the highest mean silhouette, the smallest
// among equals. Inertia cannot choose, because it falls with every further cluster. Fewer than two
// clusters, and hi < lo, are errors.
func (c Config) ChooseK(ctx context.Context, name string, lo, hi int) (Choice, error) {
	if lo < 2 || hi < lo {
		return Choice{}, fmt.Errorf("k from %d to %d: want 2 or more, in order", lo, hi)
	}
	var out Choice
	most := math.Inf(-1)
	for k := lo; k <= hi; k++ {
		c.K = k
		v, err := c.Repeat(ctx, name)
		if err != nil {
			return out, err
		}
		best := v.Best()
		s, err := Silhouette(c.Table, best.Assigned)
		if err != nil {
			return out, err
		}
		out.Tried = append(out.Tried, Trial{k, best.Inertia(), s})
		if s > most {
			most, out.K, out.Clustering = s, k, v
		}
	}
	return out, nil
}

// Silhouette returns the mean over the rows of a table of (b − a)/max(a, b), where a is the mean
// distance of a row from the others of its cluster, and b the mean distance from the rows of the
// nearest other cluster (Rousseeuw, 1987). It is between −1 and 1. A row alone in its cluster
// counts 0, and so do all if there is only one cluster. assigned has the cluster of each row, from
// 0; another length, a negative cluster and a table without rows are errors. The time is quadratic
// in the number of rows.
func Silhouette(t *data.Table, assigned []int) (float64, error) {
	n := t.Rows()
	if len(assigned) != n || n == 0 {
		return 0, fmt.Errorf("%d assignments for %d rows", len(assigned), n)
	}
	k := 0
	for i, a := range assigned {
		if a < 0 {
			return 0, fmt.Errorf("row %d is assigned to cluster %d: clusters are numbered from 0", i, a)
		}
		k = max(k, a+1)
	}
	size := make([]float64, k)
	for _, a := range assigned {
		size[a]++
	}
	total := 0.0
	from := make([]float64, k) // sums of distances from point i to each cluster
	for i := range n {
		clear(from)
		for j := range n {
			from[assigned[j]] += math.Sqrt(sqDist(row(t, i), row(t, j)))
		}
		own := assigned[i]
		if size[own] == 1 {
			continue
		}
		a, b := from[own]/(size[own]-1), math.Inf(1)
		for c, s := range from {
			if c != own && size[c] > 0 {
				b = math.Min(b, s/size[c])
			}
		}
		if most := math.Max(a, b); most > 0 && !math.IsInf(b, 1) {
			total += (b - a) / most
		}
	}
	return total / float64(n), nil
}
