package inspect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Window says which part of a value to write. The zero Window is the beginning and the end of
// each axis, in at most 10 rows and 6 columns, those of the ellipsis included.
type Window struct {
	Rows, Columns int // the most to write; 0 stands for 10 and 6
	Digits        int // significant digits of the largest number; 0 stands for 4
	// From is the index at which each axis begins; the window ends where it is full. If From is
	// nil, what does not fit is left out in the middle of an axis. An index beyond an axis counts
	// as its last.
	From []int
}

func (w Window) withDefaults() Window {
	for _, d := range []struct {
		v  *int
		to int
	}{{&w.Rows, 10}, {&w.Columns, 6}, {&w.Digits, 4}} {
		if *d.v <= 0 {
			*d.v = d.to
		}
	}
	return w
}

// Values writes a value as a table headed by its name and the ranges of its axes:
//
//	α[i=0..149 j=0..2]
//	        j=0       1       2
//	i=0  0.2510  0.4980  0.2510
//	1    0.2490  0.5020  0.2490
//	…         …       …       …
//	149  0.3330  0.3330  0.3340
//
// The last axis runs to the right, the one before it down. A vector fills rows, each headed by
// the index of its first element. An array of more axes is written as one table after another,
// each headed by the indices of the earlier axes. All numbers of a window have the same number of
// decimals; a number that would have no digit left is written as 1.2e-09, and zero as 0.
func Values(name string, a tape.Array, w Window) string {
	w = w.withDefaults()
	if length(a) != a.Type.Shape.Len() {
		return name + ": no value"
	}
	if length(a) == 0 {
		return fmt.Sprintf("%s%v\n", name, a.Type.Shape)
	}
	var b strings.Builder
	p := printer{a: a, w: w, b: &b, name: name}
	switch shape := a.Type.Shape; shape.Rank() {
	case 0:
		fmt.Fprintf(&b, "%s = %s\n", name, p.format([]int{0})(0))
	case 1:
		p.vector()
	default:
		p.tables()
	}
	return b.String()
}

type printer struct {
	a    tape.Array
	w    Window
	b    *strings.Builder
	name string
}

// elided stands for the indices left out of a list.
const elided = -1

// span lists the indices of an axis to show, with elided where some are left out.
func (w Window) span(axis, size, most int) []int {
	from := 0
	if axis < len(w.From) {
		from = min(max(w.From[axis], 0), size-1)
	}
	n := size - from
	if n <= most || w.From != nil {
		return span(from, min(n, most))
	}
	if most < 3 {
		return span(0, most)
	}
	tail := (most - 1) / 2
	return append(append(span(0, most-1-tail), elided), span(size-tail, tail)...)
}

func span(from, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = from + i
	}
	return out
}

// ranges returns the range of the indices shown, i=0..4.
func ranges(axis graph.Axis, shown []int) string {
	s := fmt.Sprintf("%d..%d", shown[0], shown[len(shown)-1])
	if len(shown) == 1 {
		s = strconv.Itoa(shown[0])
	}
	if last := shown[len(shown)-1]; shown[0] > 0 || last < axis.Size-1 {
		s += " of " + strconv.Itoa(axis.Size)
	}
	return named(axis, s)
}

func named(axis graph.Axis, index string) string {
	if axis.Name == "" {
		return index
	}
	return axis.Name + "=" + index
}

// vector writes a vector in rows, an element in each column.
func (p *printer) vector() {
	axis := p.a.Type.Shape.Axis(0)
	columns := min(p.w.Columns, axis.Size)
	from := 0
	if len(p.w.From) > 0 {
		from = min(max(p.w.From[0], 0), axis.Size-1)
	}
	count := (axis.Size - from + columns - 1) / columns
	w := p.w
	w.From = nil
	most := min(w.Rows, count)
	if p.w.From != nil {
		count = most
	}
	var rows []int
	for _, r := range w.span(0, count, most) {
		if r != elided {
			r = from + r*columns
		}
		rows = append(rows, r)
	}
	last := min(rows[len(rows)-1]+columns, axis.Size) - 1
	fmt.Fprintf(p.b, "%s[%s]\n", p.name, ranges(axis, []int{from, last}[:1+min(1, last-from)]))
	var shown []int
	for _, r := range rows {
		for k := range columns {
			if r != elided && r+k < axis.Size {
				shown = append(shown, r+k)
			}
		}
	}
	text := p.format(shown)
	t := table{}
	for i, r := range rows {
		if r == elided {
			t.row("…", repeat("…", columns))
			continue
		}
		var cells []string
		for k := r; k < min(r+columns, axis.Size); k++ {
			cells = append(cells, text(k))
		}
		head := strconv.Itoa(r)
		if i == 0 {
			head = named(axis, head)
		}
		t.row(head, cells)
	}
	t.write(p.b)
}

func repeat(s string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}

// tables writes the last two axes as a table for each index of the earlier ones, until the rows
// are used up.
func (p *printer) tables() {
	shape := p.a.Type.Shape
	rank := shape.Rank()
	down, right := shape.Axis(rank-2), shape.Axis(rank-1)
	outer := 1 // number of tables
	for i := range rank - 2 {
		outer *= shape.Dim(i)
	}
	first := 0
	for i := range rank - 2 {
		from := 0
		if i < len(p.w.From) {
			from = min(max(p.w.From[i], 0), shape.Dim(i)-1)
		}
		first = first*shape.Dim(i) + from
	}
	rows, columns := p.w.span(rank-2, down.Size, p.w.Rows), p.w.span(rank-1, right.Size, p.w.Columns)
	shownTables := min(outer-first, max(1, p.w.Rows/len(rows)))
	var shown []int
	each := func(f func(table, row, column int)) {
		for k := range shownTables {
			for _, r := range rows {
				for _, c := range columns {
					if r != elided && c != elided {
						f(k, r, c)
					}
				}
			}
		}
	}
	at := func(k, r, c int) int { return ((first+k)*down.Size+r)*right.Size + c }
	each(func(k, r, c int) { shown = append(shown, at(k, r, c)) })
	text := p.format(shown)
	for k := range shownTables {
		heads := make([]string, rank)
		rest := first + k
		for i := rank - 3; i >= 0; i-- {
			heads[i] = named(shape.Axis(i), strconv.Itoa(rest%shape.Dim(i)))
			if shape.Dim(i) > 1 {
				heads[i] += " of " + strconv.Itoa(shape.Dim(i))
			}
			rest /= shape.Dim(i)
		}
		heads[rank-2], heads[rank-1] = ranges(down, rows), ranges(right, columns)
		fmt.Fprintf(p.b, "%s[%s]\n", p.name, strings.Join(heads, " "))
		t := table{}
		t.row("", headings(right, columns))
		for i, r := range rows {
			if r == elided {
				t.row("…", repeat("…", len(columns)))
				continue
			}
			var cells []string
			for _, c := range columns {
				if c == elided {
					cells = append(cells, "…")
				} else {
					cells = append(cells, text(at(k, r, c)))
				}
			}
			head := strconv.Itoa(r)
			if i == 0 {
				head = named(down, head)
			}
			t.row(head, cells)
		}
		t.write(p.b)
	}
	if left := outer - first - shownTables; left > 0 {
		fmt.Fprintf(p.b, "… and %d more\n", left)
	}
}

// headings returns the indices of an axis, the first with its name.
func headings(axis graph.Axis, shown []int) []string {
	out := make([]string, len(shown))
	for i, k := range shown {
		out[i] = strconv.Itoa(k)
		if k == elided {
			out[i] = "…"
		} else if i == 0 {
			out[i] = named(axis, out[i])
		}
	}
	return out
}

// table aligns cells: the first column to the left, the others to the right.
type table struct {
	rows  [][]string
	width []int
}

func (t *table) row(head string, cells []string) {
	row := append([]string{head}, cells...)
	for i, c := range row {
		if i == len(t.width) {
			t.width = append(t.width, 0)
		}
		t.width[i] = max(t.width[i], utf8.RuneCountInString(c))
	}
	t.rows = append(t.rows, row)
}

func (t *table) write(b *strings.Builder) {
	for _, row := range t.rows {
		for i, c := range row {
			blanks := strings.Repeat(" ", t.width[i]-utf8.RuneCountInString(c))
			if i == 0 {
				b.WriteString(c + blanks)
			} else {
				b.WriteString("  " + blanks + c)
			}
		}
		b.WriteString("\n")
	}
}

// format returns a function that writes elements so that those shown line up: whole numbers in
// full, others with as many decimals as the significant digits leave for the largest.
func (p *printer) format(shown []int) func(i int) string {
	if p.a.Type.DType == graph.Bool {
		return func(i int) string { return strconv.FormatBool(p.a.Bool[i]) }
	}
	whole, most := true, 0.0
	for _, i := range shown {
		if v := p.a.At(i); finite(v) {
			whole = whole && v == math.Trunc(v) && math.Abs(v) < 1e9
			most = max(most, math.Abs(v))
		}
	}
	decimals := p.w.Digits - 1
	if most > 0 {
		decimals -= int(math.Floor(math.Log10(most)))
	}
	scientific := decimals < 0 && most >= 1e6 || most > 0 && most < 1e-4
	decimals = max(decimals, 0)
	least := math.Pow10(-decimals) // smaller ones have no digit left
	return func(i int) string {
		switch v := p.a.At(i); {
		case !finite(v):
			return strconv.FormatFloat(v, 'g', -1, 64)
		case whole || p.a.Type.DType.IsInt():
			return strconv.FormatFloat(v, 'f', -1, 64)
		case v == 0:
			return "0"
		case scientific:
			return strconv.FormatFloat(v, 'e', p.w.Digits-1, 64)
		case math.Abs(v) < least:
			return strconv.FormatFloat(v, 'e', 1, 64)
		default:
			return strconv.FormatFloat(v, 'f', decimals, 64)
		}
	}
}
