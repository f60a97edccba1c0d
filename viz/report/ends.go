package report

import (
	"fmt"
	"html/template"
	"slices"
)

// byLoss reports whether the methods are judged by their final loss, because none of them has
// centres whose inertia could be measured.
func (p Page) byLoss() bool {
	return !slices.ContainsFunc(p.methods(), func(m Method) bool {
		return slices.ContainsFunc(m.Runs, func(r Run) bool { return len(r.Inertia) > 0 })
	})
}

// measure names what the methods are judged by.
func (p Page) measure() string {
	if p.byLoss() {
		return "loss at the end"
	}
	return "inertia"
}

// ends shows the final losses, and which differences exceed the noise.
func (w *writer) ends(p Page) section {
	s := section{ID: "ends", Title: "Where the losses end"}
	if !p.byLoss() {
		return s
	}
	t := table{Caption: "The loss at the end of training, over the runs of each model.", Head: []string{"model", "runs", "best", "median", "worst"}}
	t.Caption = p.marked(t.Caption)
	if p.tested() {
		t.Head = append(t.Head, "converged")
	}
	var g group
	for _, m := range p.methods() {
		r := row{Name: m.Name}
		r.add(number(float64(len(m.Runs))))
		if v := ranked(m.results()); len(v) > 0 {
			r.add(number(v[0]), number(median(v)), number(v[len(v)-1]))
		} else {
			r.add(none, none, none)
		}
		if p.tested() {
			r.add(m.converged())
		}
		g.Rows = append(g.Rows, r)
	}
	t.Groups = []group{g}
	s.Body = []template.HTML{w.table(t)}
	if len(p.Pairs) == 0 {
		return s
	}
	s.Lead = []string{"Models with the same examples are compared seed by seed, so that what a seed brings to both cancels. A difference exceeds the noise if chance alone would make one as large in at most 5\u00a0% of such comparisons (Student's t, corrected for the number of pairs by Holm's method). It says which loss is smaller; where the losses measure different things, that alone says little.",
		p.differences()}
	pairs := table{Caption: p.marked("Differences of the loss at the end, in the mean over the seeds."), Head: []string{"difference", "mean", "standard error", "exceeds the noise"}}
	var rows group
	for _, d := range p.Pairs {
		r := row{Name: d.name(p)}
		r.add(number(d.Mean), number(d.Error), d.verdict())
		rows.Rows = append(rows.Rows, r)
	}
	pairs.Groups = []group{rows}
	s.Body = append(s.Body, w.table(pairs))
	return s
}

// name returns the difference of the variants' names.
func (d Pair) name(p Page) string {
	return fmt.Sprintf("%s − %s", p.Variants[d.B].Name, p.Variants[d.A].Name)
}

// verdict says whether a difference exceeds the noise, if the noise was measured.
func (d Pair) verdict() string {
	switch {
	case !finite(d.Error):
		return none
	case d.Beyond:
		return "yes"
	}
	return "no"
}

// differences names the pairs whose difference exceeds the noise.
func (p Page) differences() string {
	var said []string
	for _, d := range p.Pairs {
		if !d.Beyond {
			continue
		}
		lower, higher := p.Variants[d.A].Name, p.Variants[d.B].Name
		if d.Mean < 0 {
			lower, higher = higher, lower
		}
		said = append(said, fmt.Sprintf("%s ends below %s by %s", lower, higher, number(max(d.Mean, -d.Mean))))
	}
	if len(said) == 0 {
		return "No difference exceeds the noise."
	}
	return capital(list(said)) + "."
}
