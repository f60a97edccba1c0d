package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Test says how likely differences are that come of the seeds alone.
type Test int

// The tests, both two-sided and on differences that belong to one seed each.
const (
	// StudentT is Student's test that their mean is 0, which takes them for normal.
	StudentT Test = iota
	// SignFlips is the permutation test that flips the sign of each difference: p is the
	// share of all flips whose mean is as far from 0. It takes the differences for
	// symmetric, no more. All flips are tried for up to 16 differences, 65 536 random
	// ones, always the same, for more. It cannot go below 2/2ⁿ for n differences.
	SignFlips
)

// String names the test.
func (t Test) String() string {
	if t == SignFlips {
		return "sign flips"
	}
	return "Student's t"
}

// mostFlips is the largest number of differences whose flips are all tried.
const mostFlips = 16

// P is the probability of differences whose mean is at least as far from 0, if only
// chance decides on their signs. It is NaN for fewer than two, and for differences
// that are not all finite.
func (t Test) P(d []float64) float64 {
	if len(d) < 2 || !allFinite(d) {
		return math.NaN()
	}
	if t == SignFlips {
		return signFlips(d)
	}
	mean, err := stat.Mean(d, nil), standardError(d)
	if err == 0 { // equal differences: none at all, or as sure as can be
		if mean == 0 {
			return 1
		}
		return 0
	}
	return 2 * distuv.StudentsT{Sigma: 1, Nu: float64(len(d) - 1)}.Survival(math.Abs(mean)/err)
}

func signFlips(d []float64) float64 {
	total, size := 0.0, 0.0
	for _, v := range d {
		total += v
		size += math.Abs(v)
	}
	least := math.Abs(total) - 1e-12*size // flips that give the same sum up to rounding count
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
	return float64(count+1) / float64(of+1) // what was observed is one of the flips
}

// Holm corrects the p-values of several comparisons (Holm, 1979): calling all those
// at most α different errs anywhere with a probability of at most α. NaN stays NaN, and
// counts as no comparison.
func Holm(p []float64) []float64 {
	out := slices.Clone(p)
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, float64(len(order)-rank)*p[i]))
		out[i] = most
	}
	return out
}

// Letters marks n things such that two share a letter exactly where they do not
// differ (a compact letter display: Piepho, 2004). Letters are given in the order of
// the things: a to the first.
func Letters(n int, differ func(i, j int) bool) []string {
	if differ == nil {
		differ = func(int, int) bool { return false }
	}
	all := make([]bool, n)
	for i := range all {
		all[i] = true
	}
	groups := [][]bool{all}
	for i := range n {
		for j := range i {
			if !differ(j, i) {
				continue
			}
			var next [][]bool
			for _, g := range groups {
				if !g[i] || !g[j] {
					next = append(next, g)
					continue
				}
				for _, leave := range []int{i, j} {
					part := slices.Clone(g)
					part[leave] = false
					next = append(next, part)
				}
			}
			groups = absorbed(next)
		}
	}
	slices.SortStableFunc(groups, func(a, b []bool) int {
		for i := range a {
			switch {
			case a[i] && !b[i]:
				return -1
			case b[i] && !a[i]:
				return 1
			}
		}
		return 0
	})
	out := make([]string, n)
	for k, g := range groups {
		for i, in := range g {
			if in {
				out[i] += letter(k)
			}
		}
	}
	return out
}

// absorbed leaves out groups that another holds.
func absorbed(groups [][]bool) [][]bool {
	holds := func(a, b []bool) bool {
		for i := range a {
			if b[i] && !a[i] {
				return false
			}
		}
		return true
	}
	var out [][]bool
	for _, g := range groups {
		if slices.ContainsFunc(out, func(o []bool) bool { return holds(o, g) }) {
			continue
		}
		out = append(slices.DeleteFunc(out, func(o []bool) bool { return holds(g, o) }), g)
	}
	return out
}

// letter is the k-th: a to z, then A to Z, then with numbers: (53), (54).
func letter(k int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if k < len(letters) {
		return letters[k : k+1]
	}
	return fmt.Sprintf("(%d)", k+1)
}
