package lab

import (
	"math"
)

// Outcome summarises the trainings of a variant at one setting over the seeds.
type Outcome struct {
	Setting
	End      Summary // of the variant's own loss at the end
	Diverged int     // number of seeds that diverged
	Moving   int     // number of seeds that have not converged, including those that diverged
	// Steps summarises the number of steps to [Comparison.Level], which is infinite if that is not
	// reached.
	Steps Summary
	// P is the p-value of the difference from the best setting of the variant, corrected for the
	// number of settings ([Holm]); NaN for the best one.
	P    float64
	Best bool
}

// Verdict compares the outcome with that of the best setting: "best", "worse (p = 0.004)" or "not
// told apart (p = 0.2)". It is "" if there is no p-value.
func (o Outcome) Verdict() string {
	switch {
	case o.Best:
		return "best"
	case math.IsNaN(o.P):
		return ""
	case o.P <= significant:
		return "worse (" + pText(o.P) + ")"
	}
	return "not told apart (" + pText(o.P) + ")"
}

// significant is the largest p-value at which a difference counts as larger than noise.
const significant = 0.05

// Outcomes returns the outcome of a variant at every setting, in the order of
// [Comparison.Settings].
func (c *Comparison) Outcomes(variant int, test Test) []Outcome {
	best, level := c.Best(variant), c.Level(variant)
	var out []Outcome
	var p []float64
	for _, s := range c.Settings() {
		o := Outcome{Setting: s, End: Summarise(c.Values(0, variant, s)), Best: s == best}
		var steps []float64
		for _, cell := range c.Cells(variant, s) {
			if cell.Diverged > 0 {
				o.Diverged++
			}
			if !cell.Rest.Converged() {
				o.Moving++
			}
			steps = append(steps, cell.StepsTo(level))
		}
		if !math.IsNaN(level) {
			o.Steps = Summarise(steps)
		} else {
			o.Steps = Summarise(nil)
		}
		out = append(out, o)
		if o.Best {
			p = append(p, math.NaN())
		} else {
			p = append(p, test.P(paired(c.Values(0, variant, best), c.Values(0, variant, s))))
		}
	}
	for i, v := range Holm(p) {
		out[i].P = v
	}
	return out
}

// Level returns the loss that Outcome.Steps counts the steps to: Config.Level or, by default, nine
// tenths of the way from the first loss to that at the end, both the medians over the seeds at the
// variant's best setting. It is NaN if the loss does not fall.
func (c *Comparison) Level(variant int) float64 {
	if c.Config.Level != 0 {
		return c.Config.Level
	}
	best := c.Best(variant)
	var begin []float64
	for _, cell := range c.Cells(variant, best) {
		if len(cell.Loss) > 0 {
			begin = append(begin, cell.Loss[0])
		}
	}
	from, to := Median(begin), Summarise(c.Values(0, variant, best)).Median
	if !(to < from) {
		return math.NaN()
	}
	return from + 0.9*(to-from)
}

// StepsTo returns the number of updates after which the loss is at most level, or infinity if it
// never is. Because batches differ, the loss is averaged over the next twentieth of the steps.
func (h History) StepsTo(level float64) float64 {
	window := max(1, len(h.Loss)/20)
	for t := range h.Loss {
		part := h.Loss[t:min(t+window, len(h.Loss))]
		sum := 0.0
		for _, v := range part {
			sum += v
		}
		if sum/float64(len(part)) <= level {
			return float64(t)
		}
	}
	return math.Inf(1)
}
