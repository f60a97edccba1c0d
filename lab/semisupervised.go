package lab

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data"
)

// SpreadLabels returns for every point the commonest known label of its cluster, so that a few
// known labels serve many points (the notes on the uses of unsupervised learning). assigned has the
// cluster of each point, known its label, or "" where that is not known. Of labels that are equally
// common the first in order of the points wins; a cluster without known labels gets "". Slices of
// different lengths are an error.
func SpreadLabels(assigned []int, known []string) ([]string, error) {
	if len(assigned) != len(known) {
		return nil, fmt.Errorf("%d labels for %d assignments", len(known), len(assigned))
	}
	count, most := map[int]map[string]int{}, map[int]string{}
	for i, label := range known {
		if label == "" {
			continue
		}
		if count[assigned[i]] == nil {
			count[assigned[i]] = map[string]int{}
		}
		count[assigned[i]][label]++
	}
	for i, label := range known { // in order, so that ties do not depend on the map's
		if c := assigned[i]; count[c][label] > count[c][most[c]] {
			most[c] = label
		}
	}
	out := make([]string, len(known))
	for i, c := range assigned {
		out[i] = most[c]
	}
	return out, nil
}

// Scores returns the coordinates of the rows of a table along the first k axes, row-major [n k]: a
// short description to draw, or to learn from where few rows are labelled. A table of other columns
// than the PCA's, and more components than there are, are errors.
func (p *PCA) Scores(t *data.Table, k int) ([]float64, error) {
	if p == nil || t == nil {
		return nil, errors.New("scores of no table, or along no axes: NewPCA finds them")
	}
	if len(t.Columns) != len(p.Mean) || k < 0 || k > len(p.Axes) {
		return nil, fmt.Errorf("%d components of %d features: there are %d, of %d", k, len(t.Columns), len(p.Axes), len(p.Mean))
	}
	out := make([]float64, 0, t.Rows()*k)
	for i := range t.Rows() {
		for _, axis := range p.Axes[:k] {
			z := 0.0
			for j, v := range row(t, i) {
				z += (v - p.Mean[j]) * axis[j]
			}
			out = append(out, z)
		}
	}
	return out, nil
}
