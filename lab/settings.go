package lab

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Cells returns the trainings of a variant at a setting, one for each seed, or nil for an index out
// of range.
func (c *Comparison) Cells(variant int, s Setting) []Cell {
	p := c.Config
	if variant < 0 || variant >= len(c.Variants) || s.Optimiser < 0 || s.Optimiser >= len(p.Optimisers) || s.Start < 0 || s.Start >= len(p.Starts) {
		return nil
	}
	from := ((variant*len(p.Optimisers)+s.Optimiser)*len(p.Starts) + s.Start) * p.Seeds
	return c.cells[from : from+p.Seeds]
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
		for s := range c.Config.Starts {
			out = append(out, Setting{o, s})
		}
	}
	return out
}

// SettingName returns the name of a setting, its optimiser and start: "adam(0.01) from glorot". It
// leaves out the start if the comparison has only one, or else the optimiser if it has only one. It
// is "" for an index out of range.
func (c *Comparison) SettingName(s Setting) string {
	if s.Optimiser < 0 || s.Start < 0 || s.Optimiser >= len(c.Config.Optimisers) || s.Start >= len(c.Config.Starts) {
		return ""
	}
	o, start := c.Config.Optimisers[s.Optimiser].String(), c.Config.Starts[s.Start].String()
	switch {
	case len(c.Config.Starts) == 1:
		return o
	case len(c.Config.Optimisers) == 1:
		return start
	}
	return o + " from " + start
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
