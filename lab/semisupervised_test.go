package lab_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestSpreadLabels: where clusters are what labels stand for, one known label in each is
// enough to name all points.
func TestSpreadLabels(t *testing.T) {
	table := data.Clusters(3, 3, 60, 0.7)
	v, err := lab.Config{Table: table, K: 3}.Lloyd(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	known := make([]string, table.Rows())
	copy(known, table.Labels[:3]) // the first three points are of three clusters
	got, err := lab.SpreadLabels(v.Best().Assigned, known)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, table.Labels) {
		t.Errorf("labels %v\nwant %v", got, table.Labels)
	}
	for _, c := range []struct {
		name     string
		assigned []int
		known    []string
		want     []string
	}{
		{"majority", []int{0, 0, 0, 0, 1}, []string{"a", "b", "", "b", "a"}, []string{"b", "b", "b", "b", "a"}},
		{"tie", []int{0, 0, 0}, []string{"z", "", "a"}, []string{"z", "z", "z"}},
		{"nothing known", []int{0, 1, 1}, []string{"a", "", ""}, []string{"a", "", ""}},
		{"nothing", nil, nil, []string{}},
	} {
		got, err := lab.SpreadLabels(c.assigned, c.known)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	if _, err := lab.SpreadLabels([]int{0}, nil); err == nil {
		t.Error("an assignment without a label is no mistake")
	}
}

// TestFewLabels: of many rows, fewer are labelled than there are features, and least squares
// fits their noise. Components found in all rows leave few enough numbers to learn from,
// and predict the rest far better.
func TestFewLabels(t *testing.T) {
	const n, d, k, labelled = 200, 20, 2, 18
	rng := rand.New(rand.NewPCG(4, 4))
	table := &data.Table{Columns: make([]string, d)}
	y := make([]float64, n)
	for i := range n {
		a, b := 3*rng.NormFloat64(), 2*rng.NormFloat64()
		for j := range d {
			at := math.Pi * (float64(j) + 0.5) / d
			table.X = append(table.X, 1+a*math.Cos(at)+b*math.Cos(2*at)+rng.NormFloat64())
		}
		y[i] = a - b
	}
	p, err := linear.NewPCA(table)
	if err != nil {
		t.Fatal(err)
	}
	z, err := p.Scores(table, k)
	if err != nil {
		t.Fatal(err)
	}
	// The scores have the variances that the components say, and mean 0.
	for a := range k {
		mean, variance := 0.0, 0.0
		for i := range n {
			mean += z[i*k+a] / n
			variance += z[i*k+a] * z[i*k+a] / n
		}
		if math.Abs(mean) > 1e-12 || math.Abs(variance-p.Variance[a]) > 1e-9*variance {
			t.Errorf("component %d: mean %v, variance %v, want 0 and %v", a, mean, variance, p.Variance[a])
		}
	}
	var few []float64 // the components, and a one for what all have in common
	for i := range n {
		few = append(few, 1, z[i*k], z[i*k+1])
	}
	unseen := func(x []float64, d int) (sum float64) {
		w, err := linear.LeastSquares{X: x[:labelled*d], Y: y[:labelled], N: labelled, D: d}.Solve(0)
		if err != nil {
			t.Fatal(err)
		}
		for i := labelled; i < n; i++ {
			e := -y[i]
			for j := range d {
				e += w[j] * x[i*d+j]
			}
			sum += e * e / (n - labelled)
		}
		return sum
	}
	if few, all := unseen(few, k+1), unseen(table.X, d); !(few < 0.5*all) {
		t.Errorf("squared error %v from %d components, %v from all features", few, k, all)
	}
	if _, err := p.Scores(table, d+1); err == nil {
		t.Error("more components than there are is no mistake")
	}
	if _, err := p.Scores(&data.Table{Columns: []string{"a"}}, 1); err == nil {
		t.Error("a table of other features is no mistake")
	}
}

// TestRateDecidesStability: gradient descent on ‖X·w − y‖² multiplies the error along a
// singular direction by 1 − 2ησ² in a step, so it converges for rates below 1/σ² of the
// largest σ, and diverges above.
func TestRateDecidesStability(t *testing.T) {
	p := linear.LeastSquares{X: []float64{2, 0, 0, 1}, Y: []float64{2, 1}, N: 2, D: 2} // σ = 2 and 1; w → (1, 1)
	for _, c := range []struct {
		rate     float64
		diverges bool
	}{{0.24, false}, {0.26, true}} {
		w, err := p.Descend(context.Background(), c.rate, 200)
		if err != nil {
			t.Fatal(err)
		}
		if far := math.Abs(w[0]-1) > 1; far != c.diverges {
			t.Errorf("rate %v: w = %v", c.rate, w)
		}
		if math.Abs(w[1]-1) > 1e-6 {
			t.Errorf("rate %v: w = %v: the smaller direction converges", c.rate, w)
		}
	}
}
