package assignment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAssign: no assignment costs less, and the columns cost what is said.
func TestAssign(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 6; n++ {
		c := make([]float64, n*n)
		for i := range c {
			c[i] = rng.Float64()
		}
		least := math.Inf(1)
		var all func(row, taken int, cost float64)
		all = func(row, taken int, cost float64) {
			if row == n {
				least = min(least, cost)
				return
			}
			for j := range n {
				if taken>>j&1 == 0 {
					all(row+1, taken|1<<j, cost+c[row*n+j])
				}
			}
		}
		all(0, 0, 0)
		cost, columns := assign(c, n)
		sum, taken := 0.0, 0
		for i, j := range columns {
			sum, taken = sum+c[i*n+j], taken|1<<j
		}
		if math.Abs(cost*float64(n)-least) > 1e-12 || math.Abs(sum-least) > 1e-12 || taken != 1<<n-1 {
			t.Errorf("%d rows: columns %v for %v, want %v", n, columns, sum, least)
		}
	}
}

// TestMatch: points that were moved a little and shuffled are found again.
func TestMatch(t *testing.T) {
	x := []float64{0, 0, 1, 0, 0, 1}
	y, mean := Match(x, []float64{1, 0.1, 0, 1.1, 0, 0.1})
	if want := []float64{0, 0.1, 1, 0.1, 0, 1.1}; !slices.Equal(y, want) || math.Abs(mean-0.01) > 1e-12 {
		t.Errorf("%v at %v, want %v at 0.01", y, mean, want)
	}
}
