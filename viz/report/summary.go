package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// fact is a name and what is said under it.
type fact struct{ Name, Value, Note string }

// card shows a method in a few numbers.
type card struct {
	Name  string
	Of    string // the runs that its facts describe
	Spark template.HTML
	Facts []fact
}

// summary says what was done and how it ended.
func (w *writer) summary(p Page) section {
	s := section{ID: "summary", Title: "What was done", Lead: []string{p.done(), p.Task, p.bestSettings(), p.ended(), p.rest(), p.collapse()}}
	s.Body = append(s.Body, w.part("facts", p.facts()))
	var cards []card
	for i, m := range p.methods() {
		c := card{Name: m.Name}
		best := m.best()
		if p.byLoss() {
			cards = append(cards, w.lossCard(c, i, m))
			continue
		}
		if len(best.Inertia) > 1 {
			c.Spark = w.svg(chart.Sparkline{Name: "inertia of " + m.Name + " in its best run", X: best.steps(), Y: best.Inertia, Log: true, Group: i})
		}
		c.Of = fmt.Sprintf("best of %s, seed %d", count(len(m.Runs), "run"), best.Seed)
		c.Facts = append(c.Facts, fact{"inertia", number(best.result()), ""})
		if labelledRuns(p.methods()) {
			c.Facts = append(c.Facts, fact{"ARI", number(best.ARI), ""})
		}
		if i < len(p.Variants) && some(p.Variants, spread) {
			c.Facts = append(c.Facts, fact{"final spread", number(last(best.Spread)), ""})
		}
		if best.Groups > 0 && best.Groups < p.Setup.K && !best.Diverged {
			c.Facts = append(c.Facts, fact{"groups", ofRuns(best.Groups, p.Setup.K), ""})
		}
		if p.tested() {
			c.Facts = append(c.Facts, fact{"converged", map[bool]string{true: "yes", false: "no"}[best.Unsettled == ""], ""})
		}
		cards = append(cards, c)
	}
	s.Body = append(s.Body, w.part("cards", cards), w.part("terms", p.terms()))
	return s
}

// lossCard completes the card of a method that is judged by its loss.
func (w *writer) lossCard(c card, i int, m Method) card {
	c.Of = fmt.Sprint("seed ", m.Runs[0].Seed)
	if len(m.Runs) > 1 {
		c.Of = "median over " + count(len(m.Runs), "seed")
	}
	if y := m.typical(loss); len(y) > 1 {
		all := finites(y)
		c.Spark = w.svg(chart.Sparkline{Name: "loss of " + m.Name + ", " + c.Of, Y: y, Log: len(all) > 0 && all[0] > 0, Group: i})
	}
	c.Facts = append(c.Facts, fact{"loss at the end", number(median(m.results())), ""})
	if m.Cost.Params > 0 {
		c.Facts = append(c.Facts, fact{"parameters", number(float64(m.Cost.Params)), "numbers"})
	}
	return c
}

// done describes the experiment.
func (p Page) done() string {
	var b strings.Builder
	verb := "was"
	if len(p.Variants) > 1 {
		verb = "were"
	}
	fmt.Fprintf(&b, "%s %s trained", capital(list(names(p.Variants))), verb)
	if p.Setup.K > 0 {
		fmt.Fprintf(&b, " to place %s", count(p.Setup.K, "centre"))
	}
	if p.Data.Name != "" {
		where := "on"
		if p.Setup.K > 0 {
			where = "in"
		}
		fmt.Fprintf(&b, " %s the data %s", where, p.Data.Name)
	}
	if p.Data.Rows > 0 && len(p.Data.Features) > 0 {
		fmt.Fprintf(&b, " (%s of %s)", count(p.Data.Rows, "row"), count(len(p.Data.Features), "number"))
	}
	if len(p.Variants) == 1 {
		fmt.Fprintf(&b, ", from %s", count(len(p.Variants[0].Runs), "seed"))
	} else if sameSeeds(p.Variants) {
		fmt.Fprintf(&b, ", each from the same %s", count(len(p.Variants[0].Runs), "seed"))
	}
	if p.Setup.Steps > 0 {
		fmt.Fprintf(&b, ", for %s", count(p.Setup.Steps, "step"))
	}
	if p.byLoss() {
		return b.String() + "."
	}
	return b.String() + ". All are judged by the inertia of where their centres end."
}

// sameSeeds reports whether all methods have runs of the same seeds.
func sameSeeds(ms []Method) bool {
	seeds := func(m Method) []uint64 {
		var out []uint64
		for _, r := range m.Runs {
			out = append(out, r.Seed)
		}
		slices.Sort(out)
		return out
	}
	return !slices.ContainsFunc(ms, func(m Method) bool { return !slices.Equal(seeds(m), seeds(ms[0])) })
}

// ended compares the results.
func (p Page) ended() string {
	var said []string
	if len(p.Baselines) > 0 {
		level := p.Baselines[0]
		best := level.best().result()
		said = append(said, fmt.Sprintf("%s reaches %s at best; %s.", capital(level.Name), number(best),
			eachSays(p.Variants, func(m Method) string {
				v := m.best().result()
				if !finite(v) {
					return fmt.Sprintf("no run of %s has an end", m.Name)
				}
				if m.best().Unsettled != "" || level.best().Unsettled != "" {
					return fmt.Sprintf("the best run of %s reaches %s", m.Name, number(v))
				}
				return fmt.Sprintf("the best run of %s reaches %s (%s)", m.Name, number(v), above(v, best))
			})))
	}
	said = append(said, capital(p.inMedian()+eachSays(p.Variants, func(m Method) string {
		v, diverged := finites(m.results()), ""
		if n := m.diverged(); n > 0 {
			diverged = fmt.Sprintf("%s runs diverged", ofRuns(n, len(m.Runs)))
		}
		middle := median(m.results())
		switch {
		case len(v) == 0 && diverged == "":
			return m.Name + " has no finite " + p.measure()
		case !finite(middle):
			return fmt.Sprintf("%s diverges (%s runs)", m.Name, ofRuns(m.diverged(), len(m.Runs)))
		}
		var between []string
		if lo, hi := number(v[0]), number(v[len(v)-1]); lo != hi {
			between = append(between, fmt.Sprintf("between %s and %s", lo, hi))
		}
		if diverged != "" {
			between = append(between, diverged)
		}
		said := fmt.Sprintf("%s ends at %s", m.Name, number(middle))
		if len(between) > 0 {
			said += " (" + strings.Join(between, "; ") + ")"
		}
		return said
	}))+".")
	if held := p.heldOut(); held != "" {
		said = append(said, held)
	}
	return strings.Join(said, " ")
}

// heldOut compares the results on the rows held out; "" without such rows.
func (p Page) heldOut() string {
	if p.Data.Held == 0 || slices.ContainsFunc(p.Variants, func(m Method) bool { return len(m.Held) == 0 }) {
		return ""
	}
	return fmt.Sprintf("On the %s held out, %s%s.", count(p.Data.Held, "row"), p.inMedian(), eachSays(p.Variants, func(m Method) string {
		if v := median(m.Held); finite(v) {
			return fmt.Sprintf("%s has an inertia of %s", m.Name, number(v))
		}
		return m.Name + " has no finite inertia"
	}))
}

// severalSeeds reports whether the typical value of a variant is a median.
func (p Page) severalSeeds() bool {
	return slices.ContainsFunc(p.Variants, func(m Method) bool { return len(m.Runs) > 1 })
}

// inMedian begins a sentence about typical values.
func (p Page) inMedian() string {
	if p.severalSeeds() {
		return "in the median over the seeds, "
	}
	return ""
}

// facts returns the settings that all methods share.
func (p Page) facts() []fact {
	var out []fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{Name: name, Value: value})
		}
	}
	add("Data", p.Data.Name)
	if p.Data.Rows > 0 {
		size := count(p.Data.Rows, "row") + " × " + count(len(p.Data.Features), "feature")
		if p.Data.Held > 0 {
			size += fmt.Sprintf(", and %s held out", count(p.Data.Held, "row"))
		}
		add("Size", size)
	}
	add("Prepared", p.Data.Prepared)
	if n := len(p.Data.Classes); n > 0 {
		add("Labels", number(float64(n))+", not used in training")
	}
	if p.Setup.K > 0 {
		add("Centres k", number(float64(p.Setup.K)))
	}
	if p.Setup.Steps > 0 {
		add("Steps", number(float64(p.Setup.Steps)))
	}
	add("Seeds", seedList(p.Variants[0].Runs))
	add("Optimiser", p.Setup.Optimiser)
	add("γ", p.Setup.Schedule)
	add("Start", p.Setup.Start)
	add("Baselines", p.Setup.Baselines)
	return out
}

// seedList names the seeds, briefly if they are consecutive.
func seedList(runs []Run) string {
	first, last := runs[0].Seed, runs[len(runs)-1].Seed
	if len(runs) > 3 {
		for i, r := range runs {
			if r.Seed != first+uint64(i) {
				return count(len(runs), "seed")
			}
		}
		return fmt.Sprintf("%d to %d", first, last)
	}
	var all []string
	for _, r := range runs {
		all = append(all, fmt.Sprint(r.Seed))
	}
	return list(all)
}

// terms explains the words that the page uses.
func (p Page) terms() []fact {
	var test []fact
	if p.tested() {
		test = []fact{{Name: "Converged", Value: p.Setup.Test}}
	}
	if p.byLoss() {
		return append([]fact{{Name: "Loss at the end", Value: "the mean loss of the last tenth of the steps, each measured on its own examples before the step's update."}}, test...)
	}
	out := []fact{{Name: "Inertia", Value: "the sum over all points of the squared distance to the nearest centre. Smaller is tighter."}}
	if some(p.Variants, spread) {
		out = append(out, fact{Name: "Spread", Value: "how far apart the centres lie that a point listens to, in the mean over the points: Σⱼ αᵢⱼ ‖rⱼ − r̂ᵢ‖², where αᵢⱼ is the weight of centre j for point i and r̂ᵢ = Σⱼ αᵢⱼ rⱼ. It is 0 when every point listens to one centre."})
	}
	if labelledRuns(p.methods()) {
		out = append(out, fact{Name: "ARI", Value: "the adjusted Rand index of two groupings of the points: 1 if they are the same, about 0 if they agree no more than by chance."})
	}
	return append(out, test...)
}
