package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// verdict is the first screen: what came out, the identity behind it, and where the variants end.
func (w *writer) verdict(p Page) section {
	s := section{ID: "verdict", Title: "In short", Lead: []string{p.unsettledShort(), p.outcome()}}
	if p.Difference.Identity != "" {
		s.Body = append(s.Body, w.part("identity", map[string]any{"Identity": p.Difference.Identity}))
	}
	var figures []template.HTML
	if p.byLoss() {
		figures = w.lossPicture(p)
	} else {
		figures = w.endPictures(p)
	}
	if figures != nil {
		s.Body = append(s.Body, w.grid(figures...))
	}
	if len(s.Body) == 0 {
		s.Body = []template.HTML{""}
	}
	return s
}

// unsettledShort says which methods have runs that have not converged, in a sentence.
func (p Page) unsettledShort() string {
	said := eachSays(p.Variants, func(m Method) string {
		if m.moving() == 0 {
			return ""
		}
		if len(m.Runs) == 1 {
			return "the run of " + m.Name
		}
		return fmt.Sprintf("%s runs of %s", ofRuns(m.moving(), len(m.Runs)), m.Name)
	})
	if said == "" || !p.tested() {
		return ""
	}
	return "Not everything has come to rest: " + said + " did not converge. What follows says where they were stopped, not where the objectives lead."
}

// outcome says which variant ends better, and what the difference of the objectives is after
// training.
func (p Page) outcome() string {
	switch {
	case p.byLoss() && len(p.Variants) > 1 && len(p.Pairs) == 0:
		return p.ends() + " The tasks differ, so that these losses are not compared."
	case p.byLoss() && len(p.Pairs) > 0:
		return p.ends() + " " + p.differences()
	case p.byLoss():
		return p.ends()
	}
	said := p.duel()
	if said == "" {
		said = p.ends()
	}
	return strings.TrimSpace(said + " " + p.counted())
}

// level is the relative difference up to which inertias count as nearly equal.
const level = 1e-3

// duel compares two clusterings; it is empty for other numbers of variants, and if one diverges.
func (p Page) duel() string {
	if len(p.Variants) != 2 {
		return ""
	}
	a, b := p.Variants[0], p.Variants[1]
	if p.rank(b) < p.rank(a) {
		a, b = b, a
	}
	x, y := median(a.results()), median(b.results())
	if !finite(x) || !finite(y) {
		return ""
	}
	ends, end, where := "ends", "end", ""
	if p.tested() && a.moving()+b.moving() > 0 {
		ends, end, where = "is", "are", ", where the runs were stopped,"
	}
	said := fmt.Sprintf("%s %s tighter than %s", capital(a.Name), ends, b.Name)
	if d := y/x - 1; d <= level || x == y {
		a, b = p.Variants[0], p.Variants[1]
		x, y = median(a.results()), median(b.results())
		nearly := "nearly "
		if number(x) == number(y) {
			nearly = ""
		}
		said = fmt.Sprintf("%s and %s %s %sequally tight", capital(a.Name), b.Name, end, nearly)
	}
	said += where
	if p.Data.Name != "" {
		said += " on " + p.Data.Name
	}
	said += fmt.Sprintf(" (inertia %s and %s", number(x), number(y))
	if p.severalSeeds() {
		said += ", medians over " + count(len(a.Runs), "seed")
	}
	return said + p.bestOfBaseline() + ")" + p.left() + "."
}

// bestOfBaseline names the level to reach.
func (p Page) bestOfBaseline() string {
	if len(p.Baselines) == 0 || !finite(p.Baselines[0].best().result()) {
		return ""
	}
	return fmt.Sprintf("; the best of %s is %s", p.Baselines[0].Name, number(p.Baselines[0].best().result()))
}

// ends says where each variant ends, the best one first.
func (p Page) ends() string {
	order := slices.Clone(p.Variants)
	slices.SortStableFunc(order, func(a, b Method) int { return cmp.Compare(p.rank(a), p.rank(b)) })
	what := map[bool]string{true: "a loss", false: "an inertia"}[p.byLoss()]
	begun := false
	ends, where := "ends", ""
	if p.tested() && slices.ContainsFunc(p.Variants, func(m Method) bool { return m.moving() > 0 }) {
		ends, where = "is", "where the runs were stopped, "
	}
	said := eachSays(order, func(m Method) string {
		v := median(m.results())
		switch {
		case !finite(v):
			return m.Name + " diverges"
		case begun:
			return fmt.Sprintf("%s at %s", m.Name, number(v))
		}
		begun = true
		return fmt.Sprintf("%s %s at %s of %s", m.Name, ends, what, number(v))
	})
	on := ""
	if p.Data.Name != "" {
		on = " on " + p.Data.Name
	}
	if p.severalSeeds() {
		return fmt.Sprintf("In the median over %s%s, %s%s%s.", count(len(p.Variants[0].Runs), "seed"), on, where, said, p.bestOfBaseline())
	}
	said = where + said
	if on != "" {
		said = on[1:] + ", " + said
	}
	return capital(said) + p.bestOfBaseline() + "."
}

// rank orders variants by their typical result; those without one are last.
func (p Page) rank(m Method) float64 {
	if v := median(m.results()); !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// left says how much of the term that separates two objectives is left, as the end of a sentence.
func (p Page) left() string {
	a, b, ratio, _ := p.spreadsApart()
	if ratio == 0 || p.Difference.Identity == "" {
		return ""
	}
	return fmt.Sprintf(", and %s leaves %s the spread of %s, the term by which the two objectives differ", b.Name, times(ratio), a.Name)
}

// counted says how many minima the variants have.
func (p Page) counted() string {
	if len(p.Stationary) == 0 {
		return ""
	}
	said := eachSays(p.Variants, func(m Method) string {
		for _, of := range p.Stationary {
			if p.Variants[of.Variant].Name == m.Name {
				switch n := len(of.minima()); n {
				case 0:
					return "no minimum under " + m.Name
				case 1:
					return "one minimum under " + m.Name
				default:
					return fmt.Sprintf("%d different minima under %s", n, m.Name)
				}
			}
		}
		return ""
	})
	return fmt.Sprintf("Descents from %s%s come to %s.", count(p.Stationary[0].Starts, "start"), at(p.Stationary[0].Gamma), said)
}

// firstHeight is how high a picture may be that is to be seen with the verdict above it.
const firstHeight = 260

// endPictures shows the data with the ways of the centres of each variant's best run.
func (w *writer) endPictures(p Page) []template.HTML {
	var out []template.HTML
	for i, m := range p.Variants {
		if len(p.Plane.Points) == 0 || len(m.Paths) == 0 || i >= 4 {
			continue
		}
		ends := "ends"
		if m.best().Unsettled != "" {
			ends = "is stopped"
		}
		c := w.small(p, fmt.Sprintf("verdict-%d", i+1), fmt.Sprintf("%s %s at inertia %s", capital(m.Name), ends, number(m.best().result())))
		c.Height = firstHeight
		for _, way := range m.Paths {
			c.Paths = append(c.Paths, chart.Path{Name: "centres", Group: i, Points: way})
		}
		rest := ""
		if m.best().Unsettled != "" {
			rest = " It has not converged."
		}
		w.trackWays(p, c, []Method{m})
		out = append(out, w.figure(c, fmt.Sprintf("The best of %s, seed %d: the ways of the centres, from the ring to the filled shape.%s", count(len(m.Runs), "run"), m.best().Seed, rest)))
	}
	return out
}

// lossPicture shows the median losses.
func (w *writer) lossPicture(p Page) []template.HTML {
	if !some(p.Variants, loss) {
		return nil
	}
	l := chart.Lines{Frame: frame("verdict", "Loss per step", ""), X: "step", Y: "loss", LogY: wide(p.Variants, loss), FitY: true, Height: firstHeight}
	for i, m := range p.Variants {
		l.Series = append(l.Series, chart.Series{Name: m.Name, Y: m.typical(loss), Group: i})
	}
	caption := "The loss that each minimises."
	if p.severalSeeds() {
		caption = "The loss that each minimises, in the median over the seeds."
	}
	return []template.HTML{w.figure(l, caption)}
}
