package scaling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Noise is the law of the delays of ranks: a rank's computing takes 1 + X times as long as it might,
// where X has the distribution of Pareto's second kind (Lomax 1954),
//
//	P(X > x) = (1 + x/s)^−Index,  s = Mean·(Index − 1).
//
// Its tail is heavy: of many ranks, one is late. The zero Noise is none.
type Noise struct {
	Mean  float64 `json:"mean"`  // of X
	Index float64 `json:"index"` // above 1; the smaller, the heavier the tail
}

// Check returns an error for a law that there is not.
func (z Noise) Check() error {
	if z == (Noise{}) || z.Mean >= 0 && z.Mean <= 100 && z.Index > 1 && z.Index <= 1000 {
		return nil
	}
	return fmt.Errorf("delays of mean %v and index %v: want a mean of 0 to 100 and an index above 1, at most 1000", z.Mean, z.Index)
}

// draw returns a delay.
func (z Noise) draw(r *rand.Rand) float64 {
	if z.Mean == 0 {
		return 0
	}
	return z.Mean * (z.Index - 1) * (math.Pow(1-r.Float64(), -1/z.Index) - 1)
}

// Slowest returns the mean of the largest delay among n ranks:
//
//	s·(Γ(n+1)·Γ(1−1/Index)/Γ(n+1−1/Index) − 1)
func (z Noise) Slowest(n int) float64 {
	if z.Mean == 0 {
		return 0
	}
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(1 - 1/z.Index)
	c, _ := math.Lgamma(float64(n) + 1 - 1/z.Index)
	return z.Mean * (z.Index - 1) * (math.Exp(a+b-c) - 1)
}

// NoiseOf returns the law of how much longer than the shortest of them times are: the mean as it is,
// and the index by Hill's estimator (1975) from the largest tenth of 1 + X/s. It wants 20 times.
func NoiseOf(seconds []float64) Noise {
	if len(seconds) < 20 {
		return Noise{}
	}
	// The shortest is that of the least twentieth, lest one lucky time decide.
	sorted := slices.Sorted(slices.Values(seconds))
	least := sorted[len(sorted)/20]
	mean := 0.0
	for _, t := range sorted {
		mean += max(0, t/least-1) / float64(len(sorted))
	}
	if mean == 0 {
		return Noise{}
	}
	index := 3.0
	for range 100 { // s depends on the index
		s := mean * (index - 1)
		k := max(2, len(sorted)/10)
		cut := 1 + max(0, sorted[len(sorted)-k-1]/least-1)/s
		sum := 0.0
		for _, t := range sorted[len(sorted)-k:] {
			sum += math.Log((1 + max(0, t/least-1)/s) / cut)
		}
		next := min(20, max(1.2, float64(k)/max(sum, 1e-9)))
		if math.Abs(next-index) < 1e-6 {
			break
		}
		index = (index + next) / 2
	}
	return Noise{Mean: mean, Index: index}
}
