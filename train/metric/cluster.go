package metric

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// ARI measures the adjusted Rand index ([AdjustedRand]) between the clusters of the rows and their
// labels, integers in the named column: 1 if they agree up to names, about 0 if by chance. The
// output is memberships[n k], the largest of which decides (negate distances), or integers[n]. Rows
// with NaN are a cluster of their own. Pairs are counted over all rows that were added, across
// batches.
func ARI(labels string) Metric { return &ari{labels: labels} }

type ari struct {
	labels         string
	found, correct []int
}

func (a *ari) Name() string { return "ARI" }
func (a *ari) Reset()       { a.found, a.correct = a.found[:0], a.correct[:0] }

func (a *ari) Value() float64 {
	if len(a.found) == 0 {
		return math.NaN()
	}
	v, err := AdjustedRand(a.found, a.correct)
	if err != nil {
		return math.NaN() // never: the lengths are equal
	}
	return v
}

func (a *ari) Add(output *tensor.Dense, b data.Batch) error {
	labels, err := column(b, a.labels)
	if err != nil {
		return fmt.Errorf("ARI: %w", err)
	}
	n := labels.len()
	clusters, ok := wholes(output)
	if ok && clusters.len() != n {
		return fmt.Errorf("ARI: the output is %s for %d labels: want a cluster for each", describe(output), n)
	}
	if ok {
		for i := range n {
			a.found = append(a.found, int(clusters.at(i)))
		}
	} else {
		v, k, err := scores(output, n, "labels")
		if err != nil {
			return fmt.Errorf("ARI: %w", err)
		}
		for i := range n {
			a.found = append(a.found, v.argmax(i*k, (i+1)*k))
		}
	}
	for i := range n {
		a.correct = append(a.correct, int(labels.at(i)))
	}
	return nil
}

// Inertia measures the sum, over all rows of all batches, of the squared distance to the nearest
// centre, which k-means minimises (scikit-learn's inertia_). The output is the squared distances[n
// k] from rows to centres, such as D of the models in package builders. It is NaN if a distance is.
func Inertia() Metric { return &inertia{} }

type inertia struct {
	sum float64
	n   int
}

func (t *inertia) Name() string { return "inertia" }
func (t *inertia) Reset()       { *t = inertia{} }

func (t *inertia) Value() float64 {
	if t.n == 0 {
		return math.NaN()
	}
	return t.sum
}

func (t *inertia) Add(output *tensor.Dense, b data.Batch) error {
	v, k, err := scores(output, b.Rows, "rows")
	if err != nil {
		return fmt.Errorf("inertia: %w", err)
	}
	for i := range b.Rows {
		least := math.Inf(1)
		for j := i * k; j < (i+1)*k; j++ {
			least = min(least, v.at(j)) // NaN stays
		}
		t.sum += least
		t.n++
	}
	return nil
}
