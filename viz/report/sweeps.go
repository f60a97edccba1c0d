package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// sweeps shows how the results change with a setting.
func (w *writer) sweeps(p Page) section {
	s := section{ID: "sweeps", Title: "Other settings"}
	for i, sw := range p.Sweeps {
		figures := []template.HTML(nil)
		control := w.sweepCursor(p, sw)
		figures = append(figures, w.sweepEnds(p, sw, i)...)
		for _, c := range []struct {
			id, name, unit string
			curves         [][]float64
			more           string // of the caption
		}{
			{"inertia", "Inertia", "inertia", sw.Inertia, ""},
			{"loss", "Loss", "loss", sw.Loss, ""},
			{"spread", "Spread", "spread", sw.Spread, ""},
			{"entropy", "Entropy of the weights", "nats", sw.Entropy, " It is 0 where every point listens to one centre, and ln\u00a0k where it listens to all alike."},
			{"reach", "Distance of the centres from the mean", "times the scale of the data", sw.Reach, " Root mean square; above 1 the centres lie further out than the points."},
			{"minima", "Number of minima", "minima", sw.Minima, ""},
			{"ari", "ARI with the labels", "ARI", sw.ARI, ""},
		} {
			all := slices.Concat(c.curves...)
			if !slices.ContainsFunc(all, finite) {
				continue
			}
			l := chart.Lines{Frame: frame(fmt.Sprintf("sweep-%d-%s", i+1, c.id), c.name+" over "+sw.Name, ""),
				X: sw.Name, Y: c.unit, LogX: sw.Log, LogY: wideRange(all), XTicks: sw.ticks()}
			caption := fmt.Sprintf("%s at the end of training, with other values of %s.%s%s%s", c.name, sw.Name, c.more, sw.seeds(), sw.moving())
			switch level := p.atTheMean(); {
			case c.id == "inertia" && sw.Reach != nil && finite(level):
				l.Rules = []chart.Rule{{Name: "all at the mean", Y: level}}
				caption += fmt.Sprintf(" Dotted level: the inertia if all centres were at the mean of the data, %s.", number(level))
			case c.id == "entropy" && sw.Log && p.Setup.K > 1:
				l.Rules = []chart.Rule{{Name: "ln k", Y: math.Log(float64(p.Setup.K))}}
			case c.id == "minima":
				caption = fmt.Sprintf("The number of different minima that descents from the same %s come to, with other values of %s.", count(sw.Starts, "start"), sw.Name)
			}
			for v, y := range c.curves {
				l.Series = append(l.Series, chart.Series{Name: p.Variants[v].Name, X: sw.Values, Y: y, Group: v})
			}
			figures = append(figures, w.figure(l, caption))
		}
		if len(figures) > 0 {
			s.Body = append(s.Body, control, w.grid(figures...))
		}
		if said := p.between(sw); said != "" {
			s.Lead = append(s.Lead, said)
		}
		if said := p.hardening(sw); said != "" {
			s.Title = "From soft to hard, and other settings"
			s.Lead = append(s.Lead, said)
		}
		if said := p.softest(sw); said != "" {
			s.Lead = append(s.Lead, said)
		}
	}
	return s
}

// sweepCursor makes the cursor of a sweep, and returns its control.
func (w *writer) sweepCursor(p Page, s Sweep) template.HTML {
	c := cursor{Name: s.Name, Stops: s.Values, Start: s.shown(p)}
	for i := range s.Values {
		for v, row := range s.Ends {
			if row[i].Unsettled {
				for len(c.Notes) < len(s.Values) {
					c.Notes = append(c.Notes, "")
				}
				if c.Notes[i] != "" {
					c.Notes[i] += ", "
				}
				c.Notes[i] += p.Variants[v].Name + " has not converged"
			}
		}
	}
	return w.addCursor(c, false)
}

// shown returns the index of the value at which the pictures of a sweep stand: the one nearest to
// that which training ended with if they are of γ, otherwise the first.
func (s Sweep) shown(p Page) int {
	at := 0
	if n := len(p.Setup.Gamma); n > 0 && s.Ends != nil {
		γ := p.Setup.Gamma[n-1]
		for i, v := range s.Values {
			if math.Abs(math.Log(v/γ)) < math.Abs(math.Log(s.Values[at]/γ)) {
				at = i
			}
		}
	}
	return at
}

// sweepEnds shows where the centres end at one value of a sweep; the cursor shows the others.
func (w *writer) sweepEnds(p Page, s Sweep, index int) []template.HTML {
	var out []template.HTML
	shown := s.shown(p)
	for v, row := range s.Ends {
		if len(p.Plane.Points) == 0 || len(row) == 0 || len(row[0].At) == 0 {
			continue
		}
		m, e := p.Variants[v], row[shown]
		c := w.small(p, fmt.Sprintf("sweep-%d-end-%d", index+1, v+1), fmt.Sprintf("%s, trained at constant %s", capital(m.Name), s.Name))
		c.Height = firstHeight
		for _, q := range e.At {
			c.Paths = append(c.Paths, chart.Path{Name: "centres", Group: v, Points: [][2]float64{q}})
		}
		for _, e := range row {
			c.Covers = append(c.Covers, e.At...)
		}
		w.trackEnds(c, s, v)
		rest := ""
		if e.Unsettled {
			rest = ", where it has not converged"
		}
		out = append(out, w.figure(c, fmt.Sprintf("The centres of the best of %s at each of %s of %s, first at %s%s: inertia %s, loss %s, spread %s.%s", count(max(1, s.Seeds), "run"), count(len(s.Values), "value"), s.Name, number(s.Values[shown]), rest,
			number(e.Inertia), number(e.Loss), number(e.Spread), p.trainedAt(s))))
	}
	return out
}

// trainedAt says which γ the runs of the rest of the page were trained with.
func (p Page) trainedAt(s Sweep) string {
	if s.Ends == nil || p.Setup.Schedule == "" {
		return ""
	}
	return fmt.Sprintf(" In the runs of the other sections %s is %s.", s.Name, p.Setup.Schedule)
}

// atTheMean returns the inertia of centres that are all at the mean of the data; NaN if it is not
// known.
func (p Page) atTheMean() float64 {
	if !(p.Data.Scale > 0) || p.Data.Rows == 0 {
		return math.NaN()
	}
	return float64(p.Data.Rows) * p.Data.Scale * p.Data.Scale
}

// softest says what the variants do at the smallest value of a sweep over γ, from the distance of
// their centres from the mean and from the inertia there.
func (p Page) softest(s Sweep) string {
	level := p.atTheMean()
	if s.Reach == nil || s.Entropy == nil || len(s.Values) == 0 || !finite(level) {
		return ""
	}
	at := slices.Index(s.Values, finites(s.Values)[0])
	var said []string
	for v := range s.Inertia {
		in, reach, entropy := s.Inertia[v][at], s.Reach[v][at], s.Entropy[v][at]
		if !finite(in) || !finite(reach) {
			continue
		}
		name := p.Variants[v].Name
		how := fmt.Sprintf("The centres of %s lie %s as far from the mean as the points do, and the entropy of the weights is %s of at most %s: ", name, times(reach), number(entropy), number(math.Log(float64(p.Setup.K))))
		switch {
		case in > level:
			how += fmt.Sprintf("its inertia of %s is above the %s of centres that are all at the mean.", number(in), number(level))
			if reach > 1 && p.asksForExpected(v) {
				how += " With a small γ the weights change little from point to point, so that only centres that lie far apart, outside of the data, mix to an r̂ that follows the points; the objective asks for r̂ alone, and pays nothing for the distance."
			}
		case reach < .1:
			how += fmt.Sprintf("nearly all at the mean, where the inertia is %s.", number(level))
		default:
			how += fmt.Sprintf("its inertia is %s, against %s with all centres at the mean.", number(in), number(level))
		}
		said = append(said, how)
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("At the smallest %s, %s, points share the centres most. %s", s.Name, number(s.Values[at]), strings.Join(said, " "))
}

// asksForExpected reports whether a variant is the part of an objective that is left without its
// spread: it asks only where the expected centre of each point is.
func (p Page) asksForExpected(variant int) bool {
	return slices.ContainsFunc(p.Gradients, func(g Gradients) bool { return g.Known && g.Other == variant })
}

// hardening says how a sweep over γ leads from soft to hard weights, by their entropy.
func (p Page) hardening(s Sweep) string {
	var said []string
	for v, y := range s.Entropy {
		if n := len(y); n > 1 && len(s.Values) == n && finite(y[0]) && finite(y[n-1]) {
			said = append(said, fmt.Sprintf("from %s to %s for %s", number(y[0]), number(y[n-1]), p.Variants[v].Name))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("From %s = %s to %s the weights go from soft to hard: their entropy, of at most ln\u00a0k = %s, goes %s.", s.Name, number(s.Values[0]), number(s.Values[len(s.Values)-1]),
		number(math.Log(float64(p.Setup.K))), list(said))
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
