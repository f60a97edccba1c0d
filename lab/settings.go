package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train"
)

// Cells returns the trainings of a variant at a setting, one for each seed, or nil for an index out
// of range.
func (c *Comparison) Cells(variant int, s Setting) []Cell {
	settings := c.Settings()
	i := slices.Index(settings, s)
	if variant < 0 || variant >= len(c.Variants) || i < 0 {
		return nil
	}
	from := (variant*len(settings) + i) * c.Config.Seeds
	return c.cells[from : from+c.Config.Seeds]
}

// Values returns the values of a metric for a variant at a setting, one for each seed. Where
// training diverged they are infinite (minus infinity if larger is better), and where the metric
// does not apply NaN. Metric 0 is the variant's own loss at the end. Values returns nil for an
// index out of range.
func (c *Comparison) Values(metric, variant int, s Setting) []float64 {
	if metric < 0 || metric >= len(c.Metrics) {
		return nil
	}
	var out []float64
	for _, cell := range c.Cells(variant, s) {
		out = append(out, cell.Measures[metric])
	}
	return out
}

// Settings returns all settings of the comparison; starts vary fastest.
func (c *Comparison) Settings() []Setting {
	var out []Setting
	for o := range c.Config.Optimisers {
		for r := range c.Config.rates() {
			for s := range c.Config.Starts {
				out = append(out, Setting{o, r, s})
			}
		}
	}
	return out
}

// SettingName returns the name of a setting, its optimiser with its rate and its start:
// "adam(0.01) from glorot". It leaves out the start if the comparison has only one, or else the
// optimiser if it has only one and one rate. It is "" for an index out of range.
func (c *Comparison) SettingName(s Setting) string { return c.settingName(-1, s) }

// SettingOf returns the name of a setting of one variant, as [Comparison.SettingName] does, with the
// optimiser that the variant has of its own if it has one.
func (c *Comparison) SettingOf(variant int, s Setting) string { return c.settingName(variant, s) }

func (c *Comparison) settingName(variant int, s Setting) string {
	settings := c.Settings()
	if !slices.Contains(settings, s) {
		return ""
	}
	o, start := c.OptimiserName(variant, s), c.Config.Starts[s.Start].String()
	switch {
	case len(c.Config.Starts) == 1:
		return o
	case len(c.Config.Starts) == len(settings):
		return start
	}
	return o + " from " + start
}

// OptimiserName returns the optimiser of a setting with the schedule of its rate, if the comparison
// has Rates or the variant one of its own: "adam(cosine(0.01,200))". Without a variant, where all
// have not the same, it is "own optimiser".
func (c *Comparison) OptimiserName(variant int, s Setting) string {
	if s.Optimiser < 0 || s.Optimiser >= len(c.Config.Optimisers) || s.Rate < 0 || s.Rate >= len(c.Config.rates()) {
		return ""
	}
	if variant < 0 || variant >= len(c.Variants) {
		one := ""
		for v := range c.Variants {
			name := c.OptimiserName(v, s)
			if v > 0 && name != one {
				return "own optimiser"
			}
			one = name
		}
		return one
	}
	o, rate := c.OptimiserOf(variant, s)
	return o.Under(rate)
}

// OptimiserOf returns what trains a variant at a setting, and the schedule of its rate, which is zero
// where the optimiser's own rate is constant. A variant or a setting that there is not has zero
// values.
func (c *Comparison) OptimiserOf(variant int, s Setting) (train.Optimiser, train.Schedule) {
	if c == nil || variant < 0 || variant >= len(c.Variants) || s.Optimiser < 0 || s.Optimiser >= len(c.Config.Optimisers) || s.Rate < 0 || s.Rate >= len(c.Config.rates()) {
		return train.Optimiser{}, train.Schedule{}
	}
	o, rate, v := c.Config.Optimisers[s.Optimiser], c.Config.Rate, c.Variants[variant]
	if !v.Own.IsZero() {
		o, rate = v.Own, v.OwnRate
	}
	if given := c.Config.rates()[s.Rate]; !given.IsZero() {
		rate = given
	}
	return o, rate
}

// Best returns the setting at which the variant's own loss at the end has the smallest median over
// the seeds, the first among equals. It is chosen by the same seeds that report it, so its loss is
// a little too small: the more so, the more settings and the fewer seeds there are.
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

// Title describes the comparison: "3 objectives × 2 optimisers × 10 seeds: 60 trainings of 200
// steps".
func (c *Comparison) Title() string {
	p := c.Config
	text := ""
	for _, part := range []struct {
		n    int
		what string
	}{{len(c.Variants), "objective"}, {len(p.Optimisers), "optimiser"}, {len(p.Rates), "rate"}, {len(p.Starts), "start"}, {p.Seeds, "seed"}} {
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

// Data describes the rows that all variants were trained on. It is "" if a variant is not trained
// on rows, or if rows differ.
func (c *Comparison) Data() string {
	if t := c.Config.Table; t != nil {
		on := plural.Count(t.Rows(), "row") + " of " + t.Name
		if h := c.Config.Held; h != nil {
			on += fmt.Sprintf(", measured on %d others", h.Rows())
		}
		return on
	}
	on := ""
	for i, v := range c.Variants {
		if v.Model.Rows == nil || i > 0 && v.Model.Rows.String() != on {
			return ""
		}
		on = v.Model.Rows.String()
	}
	return on
}

// Missing says why a metric does not apply to a variant; "" where it does, or for an index out of
// range.
func (c *Comparison) Missing(metric, variant int) string {
	if metric < 1 || metric >= len(c.Metrics) || variant < 0 || variant >= len(c.Variants) || !allNaN(c.Values(metric, variant, c.Best(variant))) {
		return ""
	}
	return c.missingText(metric, []string{c.Variants[variant].Name})
}

// missingText says why a metric does not apply to some variants.
func (c *Comparison) missingText(metric int, names []string) string {
	of, all, have := c.Metrics[metric], strings.Join(names, ", "), "has"
	if len(names) > 1 {
		have = "have"
	}
	switch {
	case of.needs == "":
		return fmt.Sprintf("%s does not apply to %s", of.Name, all)
	case of.judge:
		return fmt.Sprintf("the %s depends on %s, and %s %s none of these sizes", of.Name, of.needs, all, have)
	}
	return fmt.Sprintf("%s is of %s, and %s %s none", of.Name, of.needs, all, have)
}
