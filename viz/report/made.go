package report

import (
	"fmt"
	"slices"
)

// sparing says what the data leaves out of curves.
func (p Page) sparing() string {
	if !p.thinned() {
		return ""
	}
	return fmt.Sprintf(" Of a curve of more than %d points it holds the first and the last, and of each of %d equal parts the least and the greatest; every number stands beside its step.", 2*parts, parts)
}

// made says how to get this page again, with all results.
func (w *writer) made(p Page) section {
	s := section{ID: "made", Title: "How this page was made", Lead: []string{
		"The page is one file and needs no network. Its numbers, curves included, are also inside as JSON text to seven digits, in the script element with the id “data”." + p.sparing(), w.moved()}}
	if p.Made.Command != "" || p.Made.Version != "" {
		s.Lead = append(s.Lead, "Everything but the times is a function of the command line, the data and the version.")
		s.Body = append(s.Body, w.part("made", p.Made))
	}
	t := table{Caption: "The end of every run.", Head: []string{"run"}}
	var columns []func(Run) float64
	for _, c := range []struct {
		name string
		of   func(Run) float64
	}{
		{p.measure(), Run.result},
		{"loss", func(r Run) float64 { return last(r.Loss) }},
		{"spread", func(r Run) float64 { return last(r.Spread) }},
		{"movement", func(r Run) float64 { return last(r.Movement) }},
		{"angle", func(r Run) float64 { return last(r.Angle) }},
		{"ARI", func(r Run) float64 { return r.ARI }},
	} {
		known := func(m Method) bool {
			return slices.ContainsFunc(m.Runs, func(r Run) bool { return finite(c.of(r)) })
		}
		if slices.ContainsFunc(p.methods(), known) {
			t.Head = append(t.Head, c.name)
			columns = append(columns, c.of)
		}
	}
	for _, m := range p.methods() {
		g := group{Name: m.Name}
		best := m.best().Seed
		for _, r := range m.Runs {
			line := row{Name: fmt.Sprint("seed ", r.Seed)}
			if r.Seed == best {
				line.Name += " (best)"
			}
			for _, of := range columns {
				line.add(number(of(r)))
			}
			g.Rows = append(g.Rows, line)
		}
		t.Groups = append(t.Groups, g)
	}
	s.Body = append(s.Body, w.part("more", map[string]any{"Summary": "All runs", "Body": w.table(t)}))
	return s
}
