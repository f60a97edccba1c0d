package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// sweeps shows how the results change with a setting.
func (w *writer) sweeps(p Page) section {
	s := section{ID: "sweeps", Title: "Other settings"}
	var figures []template.HTML
	for i, sw := range p.Sweeps {
		for _, c := range []struct {
			id, name, unit string
			curves         [][]float64
		}{{"inertia", "Inertia", "inertia", sw.Inertia}, {"loss", "Loss", "loss", sw.Loss}, {"ari", "ARI with the labels", "ARI", sw.ARI}} {
			all := slices.Concat(c.curves...)
			if !slices.ContainsFunc(all, finite) {
				continue
			}
			l := chart.Lines{Frame: frame(fmt.Sprintf("sweep-%d-%s", i+1, c.id), c.name+" over "+sw.Name, ""),
				X: sw.Name, Y: c.unit, LogX: sw.Log, LogY: wideRange(all), XTicks: sw.ticks()}
			for v, y := range c.curves {
				l.Series = append(l.Series, chart.Series{Name: p.Variants[v].Name, X: sw.Values, Y: y, Group: v})
			}
			figures = append(figures, w.figure(l, fmt.Sprintf("%s at the end of training, with other values of %s.%s%s", c.name, sw.Name, sw.seeds(), sw.moving())))
		}
		if said := p.between(sw); said != "" {
			s.Lead = append(s.Lead, said)
		}
	}
	if len(figures) > 0 {
		s.Body = []template.HTML{w.grid(figures...)}
	}
	return s
}

// ticks returns the values if they are counts, which have nothing in between.
func (s Sweep) ticks() []float64 {
	if s.Log || len(s.Values) == 0 || slices.ContainsFunc(s.Values, func(v float64) bool { return !finite(v) || v != math.Trunc(v) || math.Abs(v) > 1e9 }) {
		return nil
	}
	return slices.Compact(finites(s.Values))
}

// seeds says how many runs each value of a sweep has.
func (s Sweep) seeds() string {
	switch {
	case s.Seeds > 1:
		return fmt.Sprintf(" Each point: the median over %d seeds.", s.Seeds)
	case s.Seeds == 1:
		return " Each point: one seed."
	}
	return ""
}

// moving says how many runs have not converged.
func (s Sweep) moving() string {
	if s.Moving == 0 {
		return ""
	}
	return " Not converged: " + count(s.Moving, "run") + "."
}

// between says between which values the inertias of a sweep lie, and where.
func (p Page) between(s Sweep) string {
	var said []string
	for v, y := range s.Inertia {
		all := finites(y)
		if len(all) == 0 {
			continue
		}
		at := func(inertia float64) string {
			return fmt.Sprintf("%s (at\u00a0%s\u00a0=\u00a0%s)", number(inertia), s.Name, number(s.Values[slices.Index(y, inertia)]))
		}
		if number(all[0]) == number(all[len(all)-1]) {
			said = append(said, fmt.Sprintf("at %s for %s", number(all[0]), p.Variants[v].Name))
			continue
		}
		said = append(said, fmt.Sprintf("between %s and %s for %s", at(all[0]), at(all[len(all)-1]), p.Variants[v].Name))
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("With other values of %s the inertia ends %s.", s.Name, list(said))
}
