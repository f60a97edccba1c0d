package report

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// Matrix has the results of variants at every setting, and measurements of their best settings by
// metrics that all variants share. The zero value is left out of the page.
type Matrix struct {
	Settings []string    // in words, such as "adam(0.01), start × 2"
	Outcomes [][]Outcome // [variants settings]
	Metrics  []Metric
}

// Outcome is the result of one variant at one setting, over the seeds.
type Outcome struct {
	Loss     Band
	End      Spread // final loss
	Steps    float64
	Diverged int    // number of seeds
	Moving   int    // number of seeds that have not converged, including those that diverged
	Best     bool   // the variant's best setting
	Verdict  string // shown beside the best setting, such as "not told apart"; may be empty
}

// Band is a curve over the seeds: the median and the quartiles at steps X.
type Band struct{ X, Median, Lo, Hi []float64 }

// Spread is the distribution of a quantity over the seeds. It is not finite if too many runs
// diverged, or if it does not apply.
type Spread struct {
	Median, Q1, Q3 float64
	Mean, Half     float64 // with its 95 % interval, Mean ± Half
}

// Metric is a measure of a trained model.
type Metric struct {
	Name   string
	Values []Spread // by variant, at its best setting
	Marks  []string // by variant: letters; variants without a common letter differ by more than noise
	Pairs  []Pair
}

func (m Matrix) check(variants int) error {
	if len(m.Settings) == 0 && len(m.Outcomes) == 0 && len(m.Metrics) == 0 {
		return nil
	}
	if err := grid(m.Outcomes, variants, len(m.Settings), "variants", "settings"); err != nil {
		return err
	}
	for v, row := range m.Outcomes {
		best := 0
		for s, o := range row {
			if o.Best {
				best++
			}
			if n := len(o.Loss.Median); len(o.Loss.X) != n || len(o.Loss.Lo) != n || len(o.Loss.Hi) != n {
				return fmt.Errorf("variant %d, setting %d: curves of different lengths", v, s)
			}
		}
		if best != 1 {
			return fmt.Errorf("variant %d: %d best settings, not one", v, best)
		}
	}
	for _, y := range m.Metrics {
		if y.Name == "" {
			return errors.New("a metric has no name")
		}
		if len(y.Values) != variants || len(y.Marks) != variants {
			return fmt.Errorf("%q: %d values and %d marks of %d variants", y.Name, len(y.Values), len(y.Marks), variants)
		}
		if err := checkPairs(y.Pairs, variants); err != nil {
			return fmt.Errorf("%q: %w", y.Name, err)
		}
	}
	return nil
}

// bestSettings says at which setting each variant is shown.
func (p Page) bestSettings() string {
	if len(p.Matrix.Settings) < 2 {
		return ""
	}
	said := make([]string, len(p.Variants))
	for v, m := range p.Variants {
		best := slices.IndexFunc(p.Matrix.Outcomes[v], func(o Outcome) bool { return o.Best })
		said[v] = m.Name + " with " + p.Matrix.Settings[best]
	}
	return fmt.Sprintf("%s were tried. Unless it says otherwise, each objective is shown at the setting whose loss ends lowest in the median: %s.",
		capital(count(len(p.Matrix.Settings), "setting")), list(said))
}

// mostMultiples is the largest number of settings for which each has a chart.
const mostMultiples = 24

// settings shows the matrix: a chart for each setting, and a table.
func (w *writer) settings(p Page) section {
	s := section{ID: "settings", Title: "Every setting"}
	m := p.Matrix
	if len(m.Settings) < 2 {
		return s
	}
	s.Lead = []string{"An objective that wins at one rate of one optimiser may lose at the next: here is all that was tried, with the same seeds everywhere. " +
		"“Not told apart” means that nothing shows the best setting to be better: Student's t on the differences seed by seed, corrected for the number of settings (Holm)."}
	if diverged := m.diverged(p); diverged != "" {
		s.Lead = append(s.Lead, diverged)
	}
	var figures []template.HTML
	covered, log := m.extent()
	limit := math.Inf(1)
	if len(covered) > 0 {
		limit = covered[1][1]
	}
	for i, name := range m.Settings[:min(mostMultiples, len(m.Settings))] {
		l := chart.Lines{Frame: frame(fmt.Sprint("setting-", i+1), name, "The loss of each objective at this setting."), X: "step", Y: "loss", LogY: log, Covers: covered, Height: 240}
		for v, row := range m.Outcomes {
			b := row[i].Loss.upTo(limit)
			l.Series = append(l.Series, chart.Series{Name: p.Variants[v].Name, X: b.X, Y: b.Median, Lo: b.Lo, Hi: b.Hi, Group: v})
		}
		figures = append(figures, w.figure(l, fmt.Sprintf("%s: the median over the seeds, in a band from quartile to quartile. The axis is that of all settings; a curve that leaves it diverges.", name)))
	}
	t := table{Caption: "The loss at the end by setting. Steps: the median number of updates until the loss is down to a level, nine tenths of the way of the best setting unless another was asked for.",
		Head: []string{"setting", "beside the best", "median", "quartiles", "mean ± 95\u00a0%", "steps"}}
	if p.tested() {
		t.Head = append(t.Head, "converged")
	}
	for v, outcomes := range m.Outcomes {
		g := group{Name: p.Variants[v].Name}
		for i, o := range outcomes {
			r := row{Name: m.Settings[i]}
			r.add(o.fate(len(p.Variants[v].Runs)), number(o.End.Median), o.End.quartiles(), plusMinus(o.End.Mean, o.End.Half), stepsText(o.Steps))
			if seeds := len(p.Variants[v].Runs); p.tested() {
				r.add(ofRuns(seeds-o.Moving, seeds))
			}
			if o.Best {
				for c := range r.Cells {
					r.Cells[c].Shade = 1
				}
			}
			g.Rows = append(g.Rows, r)
		}
		t.Groups = append(t.Groups, g)
	}
	s.Body = []template.HTML{w.grid(figures...), w.table(t)}
	return s
}

// fate returns the verdict on an outcome, and how many seeds diverged.
func (o Outcome) fate(seeds int) string {
	if o.Diverged == 0 {
		return o.Verdict
	}
	diverged := fmt.Sprintf("%d of %d diverged", o.Diverged, seeds)
	if o.Verdict == "" {
		return diverged
	}
	return o.Verdict + ", " + diverged
}

// quartiles returns both quartiles in words, if there are any.
func (s Spread) quartiles() string {
	if !finite(s.Q1) && !finite(s.Q3) {
		return none
	}
	return number(s.Q1) + "…" + number(s.Q3)
}

// upTo returns a band up to the point where its median rises above a limit.
func (b Band) upTo(limit float64) Band {
	if n := slices.IndexFunc(b.Median, func(v float64) bool { return v > limit }); n >= 0 {
		return Band{b.X[:n], b.Median[:n], b.Lo[:n], b.Hi[:n]}
	}
	return b
}

// extent returns the range of all curves of trainings that did not diverge, and whether it needs
// a logarithmic axis.
func (m Matrix) extent() (covers [][2]float64, log bool) {
	var all, x []float64
	for _, row := range m.Outcomes {
		for _, o := range row {
			if o.Diverged > 0 {
				continue
			}
			x = append(x, o.Loss.X...)
			all = append(append(append(all, o.Loss.Lo...), o.Loss.Hi...), o.Loss.Median...)
		}
	}
	if all = finites(all); len(all) == 0 {
		return nil, false
	}
	return [][2]float64{{slices.Min(x), all[0]}, {slices.Max(x), all[len(all)-1]}}, wideRange(all)
}

// diverged says how many trainings of the matrix diverged.
func (m Matrix) diverged(p Page) string {
	n := 0
	for _, row := range m.Outcomes {
		for _, o := range row {
			n += o.Diverged
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s diverged: the loss exploded, or was no number any more. They count as worse than all others, and have no number.", capital(count(n, "training")))
}

// judged returns the table of variants by metrics.
func (w *writer) judged(p Page) section {
	s := section{ID: "judged", Title: "Trained by one, judged by another"}
	if len(p.Matrix.Metrics) == 0 {
		return s
	}
	s.Lead = []string{"Each row is what training by one objective left; each column measures it by another, where the parameters are the same by path and type. Where examples are fresh in every step, these are examples that no step was trained on."}
	if len(p.Variants) > 1 && p.severalSeeds() {
		s.Lead = append(s.Lead, "In a column, rows that share no letter differ by more than the noise of the seeds; a is among the best. An arrow marks what is better the higher it is.")
	}
	t := table{Caption: p.marked("The median over the seeds at the best setting of each row."), Head: []string{"trained by"}}
	for _, y := range p.Matrix.Metrics {
		t.Head = append(t.Head, y.Name)
	}
	var g group
	for v, m := range p.Variants {
		r := row{Name: m.Name}
		for _, y := range p.Matrix.Metrics {
			c := cell{Text: strings.TrimSpace(number(y.Values[v].Median) + " " + y.Marks[v])}
			if len(p.Variants) > 1 && strings.Contains(y.Marks[v], "a") {
				c.Shade = 1
			}
			r.Cells = append(r.Cells, c)
		}
		g.Rows = append(g.Rows, r)
	}
	t.Groups = []group{g}
	s.Body = []template.HTML{w.table(t)}
	if noise := p.Matrix.noise(p); len(noise.Groups) > 0 {
		s.Body = append(s.Body, w.part("more", map[string]any{"Summary": "Every pair by every metric", "Body": w.table(noise)}))
	}
	return s
}

// noise returns the table of all pairs by all metrics.
func (m Matrix) noise(p Page) table {
	t := table{Caption: p.marked("Differences at the best settings, seed by seed. p: Student's t, corrected for the pairs of the metric (Holm)."),
		Head: []string{"difference", "mean ± 95\u00a0%", "p", "exceeds the noise"}}
	for _, y := range m.Metrics {
		g := group{Name: y.Name}
		for _, d := range y.Pairs {
			r := row{Name: d.name(p)}
			r.add(plusMinus(d.Mean, d.Half), pText(d.P), d.verdict())
			g.Rows = append(g.Rows, r)
		}
		if len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return t
}

func plusMinus(mean, half float64) string {
	if !finite(half) {
		return number(mean)
	}
	if half > 0 { // two digits show how far to trust it
		unit := math.Pow(10, math.Floor(math.Log10(half))-1)
		half = math.Round(half/unit) * unit
	}
	return number(mean) + " ± " + number(half)
}

func stepsText(v float64) string {
	if math.IsInf(v, 1) {
		return "never"
	}
	return number(v)
}

func pText(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return number(p)
}
