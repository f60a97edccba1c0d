package lab

import (
	"math"
	"slices"
)

// Curve returns the median and the quartiles over the seeds of a variant's loss during training, at
// no more than the given number of steps x, from 0, which are evenly spread and end with the last.
// The loss of a seed that has diverged by then counts as infinite. Losses are NaN for an index out
// of range.
func (c *Comparison) Curve(variant int, s Setting, points int) (x, median, q1, q3 []float64) {
	cells := c.Cells(variant, s)
	steps, n := c.Config.Steps, max(1, min(points, c.Config.Steps))
	for k := range n {
		t := steps - 1
		if n > 1 {
			t = k * (steps - 1) / (n - 1)
		}
		var at []float64
		for _, cell := range cells {
			if t < len(cell.Loss) {
				at = append(at, cell.Loss[t])
			} else {
				at = append(at, math.Inf(1))
			}
		}
		slices.Sort(at)
		x = append(x, float64(t))
		median, q1, q3 = append(median, Quantile(at, 0.5)), append(q1, Quantile(at, 0.25)), append(q3, Quantile(at, 0.75))
	}
	return x, median, q1, q3
}
