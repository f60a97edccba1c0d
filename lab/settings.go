package lab

import (
	"fmt"
	"math"
	"slices"
)

// Cells are the trainings of a variant at a setting, by seed.
func (c *Comparison) Cells(variant int, s Setting) []Cell {
	p := c.Plan
	from := ((variant*len(p.Optimisers)+s.Optimiser)*len(p.Starts) + s.Start) * p.Seeds
	return c.cells[from : from+p.Seeds]
}

// Values are what a metric says of a variant at a setting, by seed: infinite where
// training diverged (minus infinity where larger is better), NaN where it does not
// apply.
func (c *Comparison) Values(metric, variant int, s Setting) []float64 {
	var out []float64
	for _, cell := range c.Cells(variant, s) {
		out = append(out, cell.Measures[metric])
	}
	return out
}

// Settings lists all settings: starts vary fastest.
func (c *Comparison) Settings() []Setting {
	var out []Setting
	for o := range c.Plan.Optimisers {
		for s := range c.Plan.Starts {
			out = append(out, Setting{o, s})
		}
	}
	return out
}

// SettingName is the optimiser and the start in words; the start alone where there is
// only one optimiser, and so on.
func (c *Comparison) SettingName(s Setting) string {
	if s.Optimiser < 0 || s.Start < 0 || s.Optimiser >= len(c.Plan.Optimisers) || s.Start >= len(c.Plan.Starts) {
		return ""
	}
	o, start := c.Plan.Optimisers[s.Optimiser].String(), c.Plan.Starts[s.Start].String()
	switch {
	case len(c.Plan.Starts) == 1:
		return o
	case len(c.Plan.Optimisers) == 1:
		return start
	}
	return o + " from " + start
}

// Best is the setting with which a variant's own loss ends lowest, in the median over
// the seeds; the first among equals. It is chosen on the seeds that it is shown with,
// so its loss is a little too good: the more so, the more settings there are and the
// fewer seeds.
func (c *Comparison) Best(variant int) Setting {
	settings := c.Settings()
	if len(settings) == 0 {
		return Setting{}
	}
	best, least := settings[0], math.Inf(1)
	for _, s := range settings {
		if m := Summarise(c.Values(0, variant, s)).Median; m < least {
			best, least = s, m
		}
	}
	return best
}

// Outcome is how a variant fared at a setting.
type Outcome struct {
	Setting
	End      Summary // its own loss at the end
	Diverged int     // seeds
	Moving   int     // seeds that have not converged, those that diverged among them
	// Steps is how many steps it took down to the level, infinite where it never came
	// there: see [Comparison.Level].
	Steps Summary
	// P is how likely a difference from the variant's best setting is that comes of the
	// seeds alone, corrected for the number of settings; NaN for the best one.
	P    float64
	Best bool
}

// Verdict says how the outcome compares with the best setting: "best", "worse (p = 0.004)",
// "not told apart (p = 0.2)"; nothing where noise cannot be told.
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

// significant is the p-value from which on down a difference is larger than noise.
const significant = 0.05

// Outcomes are a variant's outcomes, setting by setting.
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

// Level is the loss whose reaching is counted: the plan's, or nine tenths of the way
// from where the best setting of a variant begins to where it ends, in the median over
// the seeds. It is NaN if that is no way down.
func (c *Comparison) Level(variant int) float64 {
	if c.Plan.Level != 0 {
		return c.Plan.Level
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

// StepsTo is the number of updates after which the loss is down to a level, infinite
// if it never is. Because the losses of single batches differ, what counts is the mean
// over a twentieth of the steps from there on.
func (c History) StepsTo(level float64) float64 {
	window := max(1, len(c.Loss)/20)
	for t := range c.Loss {
		part := c.Loss[t:min(t+window, len(c.Loss))]
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

// paired are the differences b − a of those seeds for which both are finite.
func paired(a, b []float64) []float64 {
	var out []float64
	for i := range a {
		if d := b[i] - a[i]; !math.IsNaN(d) && !math.IsInf(d, 0) {
			out = append(out, d)
		}
	}
	return out
}

// SameTask reports whether two variants were trained on the same examples.
func (c *Comparison) SameTask(a, b int) bool {
	n := len(c.Variants)
	return a >= 0 && b >= 0 && a < n && b < n && c.Variants[a].Task == c.Variants[b].Task
}

// Difference is how a metric tells two variants apart, B's values minus A's at
// their best settings, seed by seed, so that what a seed has in common for both
// cancels.
type Difference struct {
	Metric, A, B int
	Summary              // of the differences
	Error        float64 // the standard error of their mean; NaN for one seed
	P            float64 // of the test
	Corrected    float64 // for all pairs that the metric compares (Holm)
	Beyond       bool    // larger than noise: Corrected is at most 0.05
}

// Differences compares each two variants that a metric applies to. By the loss at
// the end only those are compared that were trained on the same examples. Seeds of
// which one of the two diverged are left out.
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

// Marks are letters by variant: variants that share none differ by a metric by more
// than noise, and a is among the best. Variants to which it does not apply have none.
func (c *Comparison) Marks(metric int, test Test) []string {
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
	slices.SortStableFunc(order, func(a, b place) int {
		switch {
		case a.median < b.median:
			return -1
		case a.median > b.median:
			return 1
		}
		return 0
	})
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

// Title says what was done: "3 objectives × 2 optimisers × 10 seeds: 60 trainings of
// 200 steps".
func (c *Comparison) Title() string {
	p := c.Plan
	text := ""
	for _, part := range []struct {
		n    int
		what string
	}{{len(c.Variants), "objective"}, {len(p.Optimisers), "optimiser"}, {len(p.Starts), "start"}, {p.Seeds, "seed"}} {
		if part.n > 1 {
			if text != "" {
				text += " × "
			}
			text += fmt.Sprintf("%d %ss", part.n, part.what)
		}
	}
	if text == "" {
		return fmt.Sprintf("1 training of %d steps", p.Steps)
	}
	return fmt.Sprintf("%s: %d trainings of %d steps", text, len(c.cells), p.Steps)
}

// Data says which rows all variants were trained on; "" where they have none, or are cut in different ways.
func (c *Comparison) Data() string {
	on := ""
	for i, v := range c.Variants {
		if v.Model.Rows == nil || i > 0 && v.Model.Rows.String() != on {
			return ""
		}
		on = v.Model.Rows.String()
	}
	return on
}
