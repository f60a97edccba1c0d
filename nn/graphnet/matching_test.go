package graphnet_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/nn/graphnet"
)

// linked returns the matrix of n nodes with links of strength 1, both ways.
func linked(n int, links ...[2]int) []float64 {
	A := make([]float64, n*n)
	for _, l := range links {
		A[l[0]*n+l[1]], A[l[1]*n+l[0]] = 1, 1
	}
	return A
}

// TestMatching: graphs by hand, among them the four nodes of the notes that shrink to two.
func TestMatching(t *testing.T) {
	heavy := linked(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 0})
	heavy[1*4+2], heavy[2*4+1], heavy[3*4+0], heavy[0*4+3] = 5, 5, 5, 5
	for _, c := range []struct {
		name string
		A    []float64
		want []int
	}{
		{"no nodes", nil, []int{}},
		{"alone", linked(3), []int{0, 1, 2}},
		{"a link to oneself", []float64{7}, []int{0}},
		{"a row of four", linked(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}), []int{0, 0, 1, 1}},
		{"a row, numbered otherwise", linked(4, [2]int{2, 0}, [2]int{0, 3}, [2]int{3, 1}), []int{0, 1, 0, 1}},
		{"a star", linked(4, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, 3}), []int{0, 0, 1, 2}},
		{"a cycle", linked(5, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}, [2]int{4, 0}), []int{0, 0, 1, 1, 2}},
		{"two strong links", heavy, []int{0, 1, 1, 0}},
		{"one way, and a negative one", []float64{0, 1, -3, 0, 0, 0, -3, 0, 0}, []int{0, 0, 1}},
	} {
		n := 0
		for n*n < len(c.A) {
			n++
		}
		if got, err := graphnet.Matching(c.A, n); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: clusters %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	for _, n := range []int{-1, 1, 3, math.MaxInt / 2} {
		if _, err := graphnet.Matching(make([]float64, 4), n); err == nil {
			t.Errorf("4 numbers for %d nodes are no error", n)
		}
	}
}

// TestMatchingsOfAnyGraph: every cluster is one node or two that are linked, and no two nodes that
// are left alone are linked.
func TestMatchingsOfAnyGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		n := 1 + r.IntN(12)
		A := make([]float64, n*n)
		for i := range n {
			for j := range i {
				if r.Float64() < 0.3 {
					A[i*n+j] = r.Float64()
					A[j*n+i] = A[i*n+j]
				}
			}
		}
		cluster, err := graphnet.Matching(A, n)
		if err != nil {
			t.Fatal(err)
		}
		members := make([][]int, slices.Max(cluster)+1)
		for i, c := range cluster {
			members[c] = append(members[c], i)
		}
		var alone []int
		for _, m := range members {
			switch {
			case len(m) == 1:
				alone = append(alone, m[0])
			case len(m) != 2 || A[m[0]*n+m[1]] == 0:
				t.Fatalf("%v of %v is a cluster", m, A)
			}
		}
		for _, i := range alone {
			for _, j := range alone {
				if A[i*n+j] > 0 {
					t.Fatalf("%d and %d of %v are alone, and linked", i, j, A)
				}
			}
		}
	}
}
