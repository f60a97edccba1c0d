package report

import (
	"fmt"
	"html/template"
)

// baselines is how other methods fare on the same data.
func (w *writer) baselines(p Page) section {
	s := section{ID: "baselines", Title: "Beside other methods"}
	if len(p.Baselines) == 0 {
		return s
	}
	t := table{Caption: "Inertia at the end, over the runs of each method. “Reached best”: within 0.01\u00a0% of the method's own best.",
		Head: []string{"method", "runs", "best", "median", "worst", "reached best"}}
	var g group
	for _, m := range p.methods() {
		v := finites(m.ends(inertia))
		r := row{Name: m.Name}
		if len(v) == 0 {
			r.add(number(float64(len(m.Runs))), none, none, none, none)
		} else {
			r.add(number(float64(len(m.Runs))), number(v[0]), number(median(v)), number(v[len(v)-1]), number(float64(m.reaching())))
		}
		g.Rows = append(g.Rows, r)
	}
	t.Groups = []group{g}
	s.Lead = []string{fmt.Sprintf("The variants and %s on the same data. A method whose runs end in different places needs restarts: its own best is reached by %s.",
		list(names(p.Baselines)), eachSays(p.methods(), func(m Method) string {
			return fmt.Sprintf("%d of %d runs of %s", m.reaching(), len(m.Runs), m.Name)
		}))}
	s.Body = []template.HTML{w.table(t)}
	return s
}
