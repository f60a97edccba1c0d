package lab

import (
	"cmp"
	"math"
	"slices"
)

// paired returns the finite differences b − a, seed by seed.
func paired(a, b []float64) []float64 {
	var out []float64
	for i := range a {
		if d := b[i] - a[i]; !math.IsNaN(d) && !math.IsInf(d, 0) {
			out = append(out, d)
		}
	}
	return out
}

// SameTask reports whether two variants, by index, were trained on the same examples.
func (c *Comparison) SameTask(a, b int) bool {
	n := len(c.Variants)
	return a >= 0 && b >= 0 && a < n && b < n && c.Variants[a].Task == c.Variants[b].Task
}

// Difference compares two variants by a metric: the values of B minus those of A, each at its best
// setting ([Comparison.Best]). Values are paired by seed, so that the effect of a seed on both
// cancels.
type Difference struct {
	Metric, A, B int     // indices into Comparison.Metrics and Variants
	Summary              // of the differences
	Error        float64 // standard error of their mean; NaN for one seed
	P            float64 // p-value of the test
	Corrected    float64 // P corrected for all pairs that the metric compares ([Holm])
	Beyond       bool    // the difference is larger than noise: Corrected is at most 0.05
}

// Differences compares every two variants that a metric applies to. Metric 0, the variants' own
// loss at the end, compares only variants that were trained on the same examples. Seeds at which
// one of the two diverged are left out. There are none for an index out of range.
func (c *Comparison) Differences(metric int, test Test) []Difference {
	var out []Difference
	var p []float64
	for b := range c.Variants {
		for a := range b {
			if metric == 0 && !c.SameTask(a, b) {
				continue
			}
			x, y := c.Values(metric, a, c.Best(a)), c.Values(metric, b, c.Best(b))
			if allNaN(x) || allNaN(y) {
				continue
			}
			d := paired(x, y)
			diff := Difference{Metric: metric, A: a, B: b, Summary: Summarise(d), P: test.P(d), Error: math.NaN()}
			if len(d) > 1 {
				diff.Error = standardError(d)
			}
			out, p = append(out, diff), append(p, diff.P)
		}
	}
	for i, v := range Holm(p) {
		out[i].Corrected, out[i].Beyond = v, v <= significant
	}
	return out
}

// Marks returns the letters of each variant ([Letters]): variants that share no letter differ by
// the metric by more than noise, and the best have an a. A variant to which the metric does not
// apply has no letters.
func (c *Comparison) Marks(metric int, test Test) []string {
	if metric < 0 || metric >= len(c.Metrics) {
		return make([]string, len(c.Variants))
	}
	type place struct {
		variant int
		median  float64
	}
	var order []place
	for v := range c.Variants {
		if m := Summarise(c.Values(metric, v, c.Best(v))).Median; !math.IsNaN(m) {
			if c.Metrics[metric].Higher {
				m = -m
			}
			order = append(order, place{v, m})
		}
	}
	slices.SortStableFunc(order, func(a, b place) int { return cmp.Compare(a.median, b.median) })
	differ := map[[2]int]bool{}
	for _, d := range c.Differences(metric, test) {
		differ[[2]int{d.A, d.B}] = d.Beyond
	}
	letters := Letters(len(order), func(i, j int) bool {
		a, b := order[i].variant, order[j].variant
		return differ[[2]int{min(a, b), max(a, b)}]
	})
	out := make([]string, len(c.Variants))
	for i, o := range order {
		out[o.variant] = letters[i]
	}
	return out
}
