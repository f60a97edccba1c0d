package report

import (
	"fmt"
	"html/template"
	"slices"
)

// baselines shows how other methods fare on the same data.
func (w *writer) baselines(p Page) section {
	s := section{ID: "baselines", Title: "Where the runs end"}
	told := func(m Method) bool { return len(m.Optima) > 0 }
	if p.byLoss() || len(p.Baselines) == 0 && !p.tested() && !slices.ContainsFunc(p.Variants, told) {
		return s
	}
	t := table{Caption: p.marked("Inertia at the end, over the runs of each method. Two runs are at the same optimum if they put all points into the same groups and their inertias agree to 0.01\u00a0%."),
		Head: []string{"method", "runs", "best", "median", "worst", "optima", "at the best"}}
	if p.tested() {
		t.Head = append(t.Head, "converged")
	}
	var g group
	for _, m := range p.methods() {
		v := ranked(m.ends(inertia))
		r := row{Name: m.Name}
		if len(v) == 0 {
			r.add(number(float64(len(m.Runs))), none, none, none)
		} else {
			r.add(number(float64(len(m.Runs))), precise(v[0]), precise(median(v)), precise(v[len(v)-1]))
		}
		if len(m.Optima) > 0 {
			r.add(number(float64(len(m.Optima))), ofRuns(m.Optima[0].Runs, len(m.Runs)))
		} else {
			r.add(none, none)
		}
		if p.tested() {
			r.add(m.converged())
		}
		g.Rows = append(g.Rows, r)
	}
	t.Groups = []group{g}
	if len(p.Baselines) > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("The variants and %s on the same data.", list(names(p.Baselines))))
	}
	for _, m := range p.methods() {
		if said := m.optima(); said != "" {
			s.Lead = append(s.Lead, said+".")
		}
	}
	if len(s.Lead) > 0 {
		s.Lead = append(s.Lead, "A method whose runs end in different places needs restarts.")
	}
	s.Body = []template.HTML{w.table(t)}
	return s
}
