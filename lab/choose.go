package lab

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
)

// Choice is the result of [Config.ChooseK].
type Choice struct {
	K          int        // of the best silhouette
	Clustering Clustering // all runs with K clusters
	Tried      []Trial
}

// Trial has the best run with one number of clusters, by inertia over all seeds, or over the
// restarts of Lloyd's algorithm.
type Trial struct {
	K          int
	Inertia    float64
	Silhouette float64
}

// ChooseK trains a clustering with each number of clusters from lo to hi and chooses the number of
// the highest mean silhouette. Inertia cannot choose, because it falls with every further cluster.
// Fewer than two clusters, and hi < lo, are errors.
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

// Silhouette returns the mean over the points of (b − a)/max(a, b), where a is a point's mean
// distance from the others of its cluster, and b its mean distance from the points of the nearest
// other cluster (Rousseeuw, 1987). It is between −1 and 1. A point alone in its cluster counts 0,
// and so does every point if there is only one cluster. assigned has the cluster of each row, from
// 0; another length, and a negative cluster, are errors. It takes the distances of all pairs of
// rows.
func Silhouette(t *data.Table, assigned []int) (float64, error) {
	n := t.Rows()
	if len(assigned) != n || n == 0 {
		return 0, fmt.Errorf("%d assignments for %d rows", len(assigned), n)
	}
	k := 0
	for _, a := range assigned {
		if a < 0 {
			return 0, errors.New("a negative cluster")
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
