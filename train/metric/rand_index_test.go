package metric_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

func TestAdjustedRand(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []int
		want float64
	}{
		{"equal", []int{0, 0, 1, 1}, []int{0, 0, 1, 1}, 1},
		{"renamed", []int{0, 0, 1, 1}, []int{7, 7, -3, -3}, 1},
		// 6 pairs: together in both 1, in a alone 1, in b alone 0, in neither 4:
		// 2(1·4 − 1·0) / ((1+1)(1+4) + (1+0)(0+4)) = 8/14.
		{"split", []int{0, 0, 1, 1}, []int{0, 0, 1, 2}, 8. / 14},
		// 0 in both, 2 in each alone, 2 in neither: −2·4 / (2·4 + 2·4).
		{"crossed", []int{0, 0, 1, 1}, []int{0, 1, 0, 1}, -0.5},
		// Sizes 3 and 2 against 4 and 1, the overlaps 3, 1 and 1: of 10 pairs 3 are
		// together in both, 3+1−3 in a alone, 6+0−3 in b alone, 3 in neither.
		{"by hand", []int{0, 0, 0, 1, 1}, []int{0, 0, 0, 0, 1}, 2. * (3*3 - 1*3) / ((3+1)*(1+3) + (3+3)*(3+3))},
		{"one cluster against singletons", []int{0, 0, 0, 0}, []int{0, 1, 2, 3}, 0},
		// The degenerate cases.
		{"no items", nil, []int{}, 1},
		{"one item", []int{3}, []int{5}, 1},
		{"one cluster in both", []int{0, 0, 0}, []int{1, 1, 1}, 1},
		{"all alone in both", []int{0, 1, 2}, []int{2, 0, 1}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := metric.AdjustedRand(c.a, c.b)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got-c.want) > 1e-15 {
				t.Errorf("got %.17g, want %.17g", got, c.want)
			}
		})
	}
	_, err := metric.AdjustedRand([]int{1}, []int{1, 2})
	if want := "adjusted rand index: 1 items in one clustering and 2 in the other"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestAdjustedRandProperties compares with the index counted pair by pair, and checks
// that neither the order of the arguments, of the items nor the names matter.
func TestAdjustedRandProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 2 + r.IntN(20)
		a, b := make([]int, n), make([]int, n)
		for i := range n {
			a[i], b[i] = r.IntN(4), r.IntN(4)
		}
		got, _ := metric.AdjustedRand(a, b)
		if want := pairwiseARI(a, b); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v %v: %g, pair by pair %g", a, b, got, want)
		}
		if swapped, _ := metric.AdjustedRand(b, a); math.Abs(got-swapped) > 1e-15 {
			t.Errorf("%v %v: %g one way and %g the other", a, b, got, swapped)
		}
		if got > 1 || got < -0.5 {
			t.Errorf("%v %v: %g is outside [-1/2, 1]", a, b, got)
		}
		names := r.Perm(4)
		renamed, shuffled := make([]int, n), make([]int, n)
		for k, i := range r.Perm(n) {
			renamed[k], shuffled[k] = names[a[i]], b[i]
		}
		if same, _ := metric.AdjustedRand(renamed, shuffled); math.Abs(got-same) > 1e-15 {
			t.Errorf("%v %v: %g, renamed and shuffled %g", a, b, got, same)
		}
	}
}

// pairwiseARI is Hubert and Arabie's formula, (index − expected) / (maximum −
// expected), with the pairs counted one by one.
func pairwiseARI(a, b []int) float64 {
	var all, inA, inB, both float64
	for i := range a {
		for j := range i {
			all++
			if a[i] == a[j] {
				inA++
			}
			if b[i] == b[j] {
				inB++
			}
			if a[i] == a[j] && b[i] == b[j] {
				both++
			}
		}
	}
	expected, maximum := inA*inB/all, (inA+inB)/2
	if maximum == expected {
		return 1
	}
	return (both - expected) / (maximum - expected)
}

// TestIrisClusters runs Lloyd's algorithm from one flower of each species. It ends
// in the best known 3-means of iris, whose inertia and index are published.
func TestIrisClusters(t *testing.T) {
	iris := data.Iris()
	n, d, k := iris.Rows(), len(iris.Columns), 3
	centre := slices.Concat(iris.X[:d], iris.X[50*d:51*d], iris.X[100*d:101*d])
	assigned := make([]int, n)
	inertia := 0.0
	for range 30 {
		inertia = 0
		sum, count := make([]float64, k*d), make([]float64, k)
		for i := range n {
			best := math.Inf(1)
			for j := range k {
				distance := 0.0
				for c := range d {
					u := iris.X[i*d+c] - centre[j*d+c]
					distance += u * u
				}
				if distance < best {
					best, assigned[i] = distance, j
				}
			}
			inertia += best
			count[assigned[i]]++
			for c := range d {
				sum[assigned[i]*d+c] += iris.X[i*d+c]
			}
		}
		for c := range sum {
			centre[c] = sum[c] / count[c/d]
		}
	}
	species, _ := data.Codes(iris.Labels)
	index, err := metric.AdjustedRand(assigned, species)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(inertia-78.851441426146) > 1e-9 || math.Abs(index-0.7302) > 5e-5 {
		t.Errorf("inertia %.12f and index %.4f, want 78.851441426146 and 0.7302", inertia, index)
	}
}
