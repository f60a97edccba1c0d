package report

import (
	"fmt"
	"html/template"
	"reflect"
)

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

// ofMethods is a table and the methods that it is of.
type ofMethods struct {
	names []string
	table table
}

// once renders tables of what, one after the other in a grid, each with the methods that it is of
// and a note in its caption. Tables that would be printed alike are printed once, and a sentence
// names the methods that have them in common.
func (w *writer) once(tables []ofMethods, what, note string) []template.HTML {
	var different []ofMethods
	for _, t := range tables {
		same := false
		for i := range different {
			d := &different[i]
			if same = reflect.DeepEqual(d.table.Head, t.table.Head) && reflect.DeepEqual(d.table.Groups, t.table.Groups); same {
				d.names = append(d.names, t.names...)
				break
			}
		}
		if !same {
			different = append(different, ofMethods{t.names[:len(t.names):len(t.names)], t.table})
		}
	}
	var printed, said []template.HTML
	for _, d := range different {
		d.table.Caption = fmt.Sprintf("%s, %s. %s", what, list(d.names), note)
		printed = append(printed, w.table(d.table))
		if len(d.names) > 1 {
			said = append(said, w.part("paragraph", fmt.Sprintf("%s are the same for %s: Table %d has them once.", what, list(d.names), w.tables)))
		}
	}
	return append(said, w.grid(printed...))
}
