package report

import "html/template"

// table has a heading for every column and every row.
type table struct {
	Caption string
	Head    []string // of the columns; the first heads the rows
	Groups  []group
}

// group has some rows, under a heading of their own if it is not empty.
type group struct {
	Name string
	Rows []row
}

type row struct {
	Name  string
	Cells []cell
}

// cell is a text on one of five shades, 0 for none.
type cell struct {
	Text  string
	Shade int
}

func (r *row) add(texts ...string) {
	for _, t := range texts {
		r.Cells = append(r.Cells, cell{Text: t})
	}
}

// table renders a table.
func (w *writer) table(t table) template.HTML {
	w.tables++
	return w.part("table", map[string]any{"N": w.tables, "Table": t})
}

// shade returns the shade of a part of a whole: 0 for nothing, 4 for nearly all.
func shade(part, whole int) int {
	if part <= 0 || whole <= 0 {
		return 0
	}
	return 1 + min(3, 4*part/whole)
}
