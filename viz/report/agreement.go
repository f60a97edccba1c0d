package report

import (
	"fmt"
	"slices"
)

// agreement compares the groupings with the labels and with each other.
func (w *writer) agreement(p Page) section {
	s := section{ID: "agreement", Title: "Who agrees with whom"}
	all := p.methods()
	between := len(all) > 1 && p.Between != nil
	if !labelledRuns(all) && !between && !slices.ContainsFunc(all, Method.counted) {
		return s
	}
	t := table{Caption: p.marked("Adjusted Rand index of the groupings that the centres make; between methods, of their best runs."), Head: []string{"method"}}
	if labelledRuns(all) {
		t.Head = append(t.Head, "with labels, best run", "with labels, median")
	}
	if between {
		for _, v := range all {
			t.Head = append(t.Head, "with "+v.Name)
		}
	}
	if len(t.Head) > 1 {
		var g group
		for i, m := range all {
			r := row{Name: m.Name}
			if labelledRuns(all) {
				r.add(number(m.best().ARI), number(median(m.aris())))
			}
			if between {
				for j := range all {
					text := "itself"
					if i != j {
						text = number(p.Between[i][j])
					}
					r.add(text)
				}
			}
			g.Rows = append(g.Rows, r)
		}
		t.Groups = []group{g}
		s.Body = append(s.Body, w.table(t))
	}
	var tables []ofMethods
	for _, m := range all {
		if m.counted() {
			tables = append(tables, ofMethods{[]string{fmt.Sprintf("%s (seed %d)", m.Name, m.best().Seed)}, p.contingency(m)})
		}
	}
	if len(tables) > 0 {
		s.Body = append(s.Body, w.once(tables, "Points by class and nearest centre", "The shade is the share of the class.")...)
	}
	with := "between methods"
	if labelledRuns(p.methods()) {
		with = "with the labels, which training never saw, and between methods"
	}
	s.Lead = []string{"Every point belongs to its nearest centre. Those groups can be compared " + with + "." + p.purity()}
	return s
}

func (m Method) counted() bool { return len(m.Counts) > 0 && len(m.Counts[0]) > 0 }

// contingency counts the points of each class at each centre; the table has no caption yet.
func (p Page) contingency(m Method) table {
	t := table{Head: []string{"class"}}
	for j := range m.Counts[0] {
		t.Head = append(t.Head, fmt.Sprint("centre ", j+1))
	}
	var g group
	for i, counts := range m.Counts {
		total := 0
		for _, n := range counts {
			total += n
		}
		r := row{Name: p.Data.Classes[i]}
		for _, n := range counts {
			r.Cells = append(r.Cells, cell{number(float64(n)), shade(n, total)})
		}
		g.Rows = append(g.Rows, r)
	}
	t.Groups = []group{g}
	return t
}

// purity says how many points belong to the most frequent class of their centre.
func (p Page) purity() string {
	said := eachSays(p.methods(), func(m Method) string {
		if !m.counted() {
			return ""
		}
		right, total := 0, 0
		for j := range m.Counts[0] {
			most := 0
			for _, counts := range m.Counts {
				most = max(most, counts[j])
				total += counts[j]
			}
			right += most
		}
		return fmt.Sprintf("%d of %d with %s", right, total, m.Name)
	})
	if said == "" {
		return ""
	}
	return " If each centre takes the class that is most frequent around it, the class is right for " + said + "."
}
