package data

import (
	"math"
	"strconv"
)

// Clusters returns n points of the plane (columns x and y) in k clusters, labelled 0 … k−1 in turn.
// The centres are the corners of a regular k-gon around the origin, 10 from corner to corner, with
// the first to the upper right. The points are normally distributed around them, with standard
// deviation spread in x and in y. With three clusters and a spread of about 1 these are the widely
// separated clusters on which soft k-means and its goofy alternative are compared. A k below 1
// counts as 1 and an n below 0 as 0. A spread that is not finite makes Table.Dense fail.
func Clusters(seed uint64, k, n int, spread float64) *Table {
	k, n = max(k, 1), max(n, 0)
	radius := 0.0
	if k > 1 {
		radius = 5 / math.Sin(math.Pi/float64(k))
	}
	t := &Table{
		Name:      "clusters",
		Columns:   []string{"x", "y"},
		X:         make([]float64, 0, 2*n),
		Labels:    make([]string, n),
		LabelName: "cluster",
	}
	r := newDraws().at(seed, 0)
	for i := range n {
		j := i % k
		sin, cos := math.Sincos(math.Pi/6 + 2*math.Pi*float64(j)/float64(k))
		// The conversions prevent fused multiply-add, so that all machines give the same bits.
		t.X = append(t.X,
			float64(radius*cos)+float64(spread*r.NormFloat64()),
			float64(radius*sin)+float64(spread*r.NormFloat64()))
		t.Labels[i] = strconv.Itoa(j)
	}
	return t
}
