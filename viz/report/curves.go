package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// runsNote explains charts of many runs.
func (p Page) runsNote() string {
	if p.severalSeeds() {
		return " Bold: the median over the seeds; faint: every seed."
	}
	return ""
}

// curves returns a chart of one curve of every run and the median of each variant.
func curves(p Page, id, title, y string, c curve) chart.Lines {
	l := chart.Lines{Frame: frame(id, title, ""), X: "step", Y: y, LogY: wide(p.Variants, c), FitY: true}
	for i, m := range p.Variants {
		if len(m.Runs) > 1 {
			for _, r := range m.Runs {
				l.Series = append(l.Series, chart.Series{Name: fmt.Sprintf("%s, seed %d", m.Name, r.Seed), Y: c(r), Group: i, Faint: true})
			}
		}
	}
	for i, m := range p.Variants {
		l.Series = append(l.Series, chart.Series{Name: m.Name, Y: m.typical(c), Group: i})
	}
	return l
}

// wide reports whether positive values have too large a range for a linear axis.
func wide(ms []Method, c curve) bool {
	return wideRange(slices.Concat(allOf(ms, c)...))
}

func wideRange(v []float64) bool {
	all := finites(v)
	return len(all) > 0 && all[0] > 0 && all[len(all)-1] > 5*all[0]
}

// positive reports whether a logarithmic axis has anything to show.
func positive(ms []Method, c curve) bool {
	all := finites(slices.Concat(allOf(ms, c)...))
	return some(ms, c) && all[len(all)-1] > 0
}

// difference shows the identity that separates the objectives, and its term during training.
func (w *writer) difference(p Page) section {
	s := section{ID: "difference", Title: "What the difference is"}
	if p.Difference.Identity != "" { // as wide as there is room for
		s.Body = append(s.Body, w.part("identity", map[string]any{"Identity": p.Difference.Identity, "Words": p.Difference.Words, "LaTeX": p.Difference.LaTeX}))
	}
	if some(p.Variants, spread) {
		s.Lead = []string{"The spread is measured in the same way whatever a run minimises." + p.spreads()}
	}
	if positive(p.Variants, spread) {
		l := curves(p, "spread", "Spread per step", "spread", spread)
		l.LogY = true
		s.Body = append(s.Body, w.grid(w.figure(l, "The spread during training, on a logarithmic scale."+p.runsNote())))
	}
	return s
}

// spreads says where the spread of each variant begins and ends.
func (p Page) spreads() string {
	said := eachSays(p.Variants, func(m Method) string {
		begin, end := math.NaN(), median(m.ends(spread))
		if v := m.typical(spread); len(v) > 0 {
			begin = v[0]
		}
		switch {
		case !finite(begin) || !finite(end):
			return ""
		case number(begin) == number(end):
			return fmt.Sprintf("under %s it begins and ends at %s", m.Name, number(end))
		}
		return fmt.Sprintf("under %s it goes from %s to %s", m.Name, number(begin), number(end))
	})
	if said == "" {
		return ""
	}
	return " " + capital(p.inMedian()+said) + "." + p.spreadRatio()
}

// negligible is the share of the data's squared scale up to which a spread is a rounding error:
// centres and weights are computed to about 1e−7.
const negligible = 1e-9

// spreadRatio compares the final spreads of two variants.
func (p Page) spreadRatio() string {
	a, b, ratio, unsaid := p.spreadsApart()
	switch {
	case unsaid != "":
		return " How many times the one is the other is not said: " + unsaid
	case ratio > 0:
		return fmt.Sprintf(" In the end %s leaves %s the spread of %s, median against median.", b.Name, times(ratio), a.Name)
	}
	return ""
}

// spreadsApart returns how many times the median final spread of b that of a is, where a and b are
// the two variants; 0 if it is not said, perhaps with the reason, and for about once.
func (p Page) spreadsApart() (a, b Method, ratio float64, unsaid string) {
	if len(p.Variants) != 2 {
		return a, b, 0, ""
	}
	a, b = p.Variants[0], p.Variants[1]
	if a.moving()+b.moving() > 0 {
		return a, b, 0, fmt.Sprintf("%s of %s and %s of %s have converged.", a.converged(), a.Name, b.converged(), b.Name)
	}
	if p.collapsed(a)+p.collapsed(b) > 0 {
		return a, b, 0, "not all runs have as many groups of points as centres."
	}
	x, y := median(a.ends(spread)), median(b.ends(spread))
	if least := negligible * p.Data.Scale * p.Data.Scale; min(x, y) <= least {
		return a, b, 0, fmt.Sprintf("a spread of up to %s, a billionth of the mean squared distance of the data from their mean, is a numerical zero.", number(least))
	}
	if x > y {
		a, b, x, y = b, a, y, x
	}
	if ratio = y / x; finite(ratio) && ratio > 1.05 {
		return a, b, ratio, ""
	}
	return a, b, 0, ""
}

// training shows how the variants got to their ends.
func (w *writer) training(p Page) section {
	s := section{ID: "training", Title: "Training"}
	note := p.runsNote()
	var figures []template.HTML
	if some(p.Variants, loss) {
		caption := "The loss that each run minimises."
		if len(p.Variants) > 1 && !p.byLoss() {
			caption += " The objectives measure different things: compare the shapes of the lines more than their heights."
		}
		if p.anneals() {
			caption += " While γ changes, the objective itself does, so that a loss may rise though every step goes down."
		}
		figures = append(figures, w.figure(curves(p, "loss", "Loss per step", "loss", loss), caption+note))
	}
	if some(p.Variants, inertia) {
		l := curves(p, "inertia", "Inertia per step", "inertia", inertia)
		caption := "The inertia of the centres at each step."
		if len(p.Baselines) > 0 && finite(p.Baselines[0].best().result()) {
			b := p.Baselines[0]
			l.Rules = []chart.Rule{{Name: b.Name, Y: b.best().result()}}
			caption += fmt.Sprintf(" Dotted level: the best of %s, %s.", b.Name, number(b.best().result()))
		}
		figures = append(figures, w.figure(l, caption+note))
	}
	if positive(p.Variants, movement) {
		l := curves(p, "movement", "Movement of the centres per step", "movement", movement)
		l.LogY = true
		figures = append(figures, w.figure(l, "How far all centres together move in each step, on a logarithmic scale."+note))
	}
	if some(p.Variants, angle) {
		l := curves(p, "angle", "Angle between the gradients", "degrees", angle)
		l.LogY, l.YTicks = false, []float64{0, 45, 90, 135, 180}
		if v := finites(slices.Concat(allOf(p.Variants, angle)...)); v[len(v)-1] > 45 {
			l.Rules = []chart.Rule{{Name: "right angle", Y: 90}}
		}
		figures = append(figures, w.figure(l, "The angle between the gradients of "+cmp.Or(p.Setup.Angle, "the objectives")+" at the same centres, along the way of each run: 0° where both would move the centres alike, 180° where they pull apart. Gaps: one gradient vanishes."+note))
	}
	if slices.ContainsFunc(p.Setup.Gamma, finite) {
		l := chart.Lines{Frame: frame("gamma", "γ per step", ""), X: "step", Y: "γ", LogY: true, Height: 200,
			Series: []chart.Series{{Name: "γ", Y: p.Setup.Gamma, Group: len(p.methods())}}}
		figures = append(figures, w.figure(l, "How sharply a point chooses among the centres: with a small γ all centres weigh alike, with a large one only the nearest counts. γ is "+p.Setup.Schedule+"."))
	}
	if len(figures) == 0 {
		return s
	}
	s.Lead = []string{p.settling(), p.angles()}
	s.Body = []template.HTML{w.grid(figures...)}
	return s
}

// anneals reports whether γ changes during training.
func (p Page) anneals() bool {
	γ := finites(p.Setup.Gamma)
	return len(γ) > 1 && γ[0] != γ[len(γ)-1]
}

// allOf returns the curves of all runs.
func allOf(ms []Method, c curve) [][]float64 {
	var out [][]float64
	for _, m := range ms {
		for _, r := range m.Runs {
			out = append(out, c(r))
		}
	}
	return out
}

// settling says when the median inertia comes to rest.
func (p Page) settling() string {
	said := eachSays(p.Variants, func(m Method) string {
		v := m.typical(inertia)
		switch step, ok := settled(v); {
		case ok:
			return fmt.Sprintf("from step %s on for %s", number(float64(step)), m.Name)
		case finite(last(v)):
			return fmt.Sprintf("only at the end for %s", m.Name)
		}
		return ""
	})
	if said == "" {
		return ""
	}
	return capital(p.inMedian() + fmt.Sprintf("the inertia stays within 1\u00a0%% of its final value %s.", said))
}

// angles says how far the gradients point apart.
func (p Page) angles() string {
	said := eachSays(p.Variants, func(m Method) string {
		v := finites(m.typical(angle))
		if len(v) == 0 {
			return ""
		}
		lo, hi := math.Round(v[0]), math.Round(v[len(v)-1])
		if lo == hi {
			return fmt.Sprintf("is %.0f° along the way of %s", lo, m.Name)
		}
		return fmt.Sprintf("lies between %.0f° and %.0f° along the way of %s", lo, hi, m.Name)
	})
	if said == "" {
		return ""
	}
	of := ""
	if p.Setup.Angle != "" {
		of = "of " + p.Setup.Angle + " "
	}
	return capital(p.inMedian() + "the angle between the gradients " + of + "at the same centres " + said + ".")
}
