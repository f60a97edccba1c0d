package lab

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/train/data"
)

// Start is a way to choose the start centres of a clustering.
type Start int

const (
	// StartDefault is PlusPlus or, with [Config.AsNotes], what the notes have.
	StartDefault Start = iota
	// PlusPlus draws rows as k-means++ does (Arthur & Vassilvitskii, 2007): the first at random, each
	// next one with a probability proportional to its squared distance from the nearest so far.
	PlusPlus
	// StartPoints draws rows at random, none twice.
	StartPoints
	// StartGiven takes the centres in Config.Given.
	StartGiven
	// StartGroups assigns every row to a random group and takes the means of the groups (James et
	// al., An Introduction to Statistical Learning, Algorithm 12.2).
	StartGroups
)

var startNames = [...]string{"default", "plusplus", "points", "given", "groups"}

// String returns the name that [ParseStart] reads.
func (s Start) String() string { return startNames[min(max(int(s), 0), len(startNames)-1)] }

// ParseStart returns the Start named plusplus, points, given or groups. Another name is an error.
func ParseStart(s string) (Start, error) {
	for i, name := range startNames {
		if s == name && Start(i) != StartDefault {
			return Start(i), nil
		}
	}
	return 0, fmt.Errorf("start %q: want plusplus, points, groups or given", s)
}

// Centres chooses k start centres for a table of d columns, row-major [k d]. They depend on the
// arguments alone, so that all objectives start alike. For StartGiven and StartDefault it chooses as
// for PlusPlus.
// The result is nil unless k is from 1 to the number of rows.
func Centres(t *data.Table, k int, how Start, seed uint64) []float64 {
	if t == nil || k < 1 || k > t.Rows() {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 0x7461706573747279))
	d := len(t.Columns)
	if how == StartPoints {
		out := make([]float64, 0, k*d)
		for _, i := range rng.Perm(t.Rows())[:k] {
			out = append(out, row(t, i)...)
		}
		return out
	}
	if how == StartGroups {
		return groupMeans(t, k, rng)
	}
	return plusPlus(t, k, rng)
}

// groupMeans chooses centres as [StartGroups] says. The first k rows in a random order get
// different groups, so that none is empty.
func groupMeans(t *data.Table, k int, rng *rand.Rand) []float64 {
	d := len(t.Columns)
	out, count := make([]float64, k*d), make([]float64, k)
	for place, i := range rng.Perm(t.Rows()) {
		j := place
		if place >= k {
			j = rng.IntN(k)
		}
		count[j]++
		for f, v := range row(t, i) {
			out[j*d+f] += (v - out[j*d+f]) / count[j]
		}
	}
	return out
}

// plusPlus chooses centres as [PlusPlus] says.
func plusPlus(t *data.Table, k int, rng *rand.Rand) []float64 {
	n, d := t.Rows(), len(t.Columns)
	out := make([]float64, 0, k*d)
	near := make([]float64, n)
	for i := range near {
		near[i] = math.Inf(1)
	}
	pick := rng.IntN(n)
	for {
		c := row(t, pick)
		out = append(out, c...)
		if len(out) == k*d {
			return out
		}
		total := 0.0
		for i := range near {
			near[i] = math.Min(near[i], sqDist(row(t, i), c))
			total += near[i]
		}
		pick = rng.IntN(n) // where all points coincide with centres, or squares overflow
		if total > 0 && !math.IsInf(total, 1) {
			for u := rng.Float64() * total; ; {
				pick = (pick + 1) % n
				if u -= near[pick]; u < 0 {
					break
				}
			}
		}
	}
}

// row returns row i of a table.
func row(t *data.Table, i int) []float64 {
	d := len(t.Columns)
	return t.X[i*d : (i+1)*d]
}

// sqDist returns the squared distance between two points.
func sqDist(a, b []float64) (s float64) {
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return s
}

// Scale returns the root mean squared distance of the rows of a table from their mean. It is 1 if
// there are no rows or all are equal, and infinite or NaN if squares overflow.
func Scale(t *data.Table) float64 {
	if t.Rows() == 0 {
		return 1
	}
	n, d := t.Rows(), len(t.Columns)
	mean := make([]float64, d)
	for i := range n {
		for j, v := range row(t, i) {
			mean[j] += v / float64(n)
		}
	}
	s := 0.0
	for i := range n {
		s += sqDist(row(t, i), mean) / float64(n)
	}
	if s == 0 {
		return 1
	}
	return math.Sqrt(s)
}
