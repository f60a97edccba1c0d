package lab

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Test is a two-sided significance test of paired differences, one per seed.
type Test int

// The null hypothesis of the tests is that the differences come from the seeds alone.
const (
	// StudentT is Student's t-test of whether the mean is 0. It assumes normal differences.
	StudentT Test = iota
	// SignFlips is Fisher's randomisation test: the p-value is the fraction of all choices of signs
	// whose mean is at least as far from 0. It assumes differences that are symmetric around 0. For
	// up to 16 differences it tries all choices, for more 65 536 random ones, the same in every
	// call. For n differences the p-value is at least 2/2ⁿ.
	SignFlips
)

// String returns "Student's t" or "sign flips".
func (t Test) String() string {
	if t == SignFlips {
		return "sign flips"
	}
	return "Student's t"
}

// mostFlips is the largest number of differences for which all choices of signs are tried.
const mostFlips = 16

// P returns the p-value of the differences d: the probability, under the null hypothesis, of a mean
// that is at least as far from 0. It is NaN for fewer than two differences, and if one of them is
// not finite.
func (t Test) P(d []float64) float64 {
	if len(d) < 2 || !allFinite(d) {
		return math.NaN()
	}
	if t == SignFlips {
		return signFlips(d)
	}
	mean, err := stat.Mean(d, nil), standardError(d)
	if err == 0 { // all differences are equal
		if mean == 0 {
			return 1
		}
		return 0
	}
	return 2 * distuv.StudentsT{Sigma: 1, Nu: float64(len(d) - 1)}.Survival(math.Abs(mean)/err)
}

// signFlips returns the p-value by [SignFlips].
func signFlips(d []float64) float64 {
	total, size := 0.0, 0.0
	for _, v := range d {
		total += v
		size += math.Abs(v)
	}
	least := math.Abs(total) - 1e-12*size // sums that are equal up to rounding count
	far := func(flips uint64, d []float64, sum float64) float64 {
		for i, v := range d {
			if flips>>i&1 != 0 {
				sum -= v
			} else {
				sum += v
			}
		}
		return sum
	}
	count, of := 0, 1<<min(len(d), mostFlips)
	if len(d) <= mostFlips {
		for flips := range of {
			if math.Abs(far(uint64(flips), d, 0)) >= least {
				count++
			}
		}
		return float64(count) / float64(of)
	}
	rng := rand.New(rand.NewPCG(0, 0x666c697073))
	for range of {
		sum := 0.0
		for part := range slices.Chunk(d, 64) {
			sum = far(rng.Uint64(), part, sum)
		}
		if math.Abs(sum) >= least {
			count++
		}
	}
	return float64(count+1) / float64(of+1) // the observed signs are one of the choices
}

// Holm corrects the p-values of several comparisons by the step-down method of Holm (1979). If
// those that are then at most α are called significant, the probability of one error or more is at
// most α. NaN stays NaN and does not count as a comparison.
func Holm(p []float64) []float64 {
	out := slices.Clone(p)
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, float64(len(order)-rank)*p[i]))
		out[i] = most
	}
	return out
}
