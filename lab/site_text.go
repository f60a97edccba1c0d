package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lined sets rows of cells in columns, two blanks apart and as wide as their widest
// cell. The first column starts at its left, cells that begin with a digit, a sign or a
// blank end at their right.
func lined(indent string, rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], shown(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		line.WriteString(indent)
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-shown(cell))
			if i > 0 && cell != "" && strings.ContainsAny(cell[:1], "0123456789-+ ") {
				cell = gap + cell
			} else {
				cell += gap
			}
			line.WriteString(cell + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// shown is the number of characters that take space: combining marks, as in r̂, take none.
func shown(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if unicode.Is(unicode.Mn, r) {
			n--
		}
	}
	return n
}

// numberText writes a number to four digits, for tables.
func numberText(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return digits(v, 4)
}

// String is the table: a transformation a line. Derivatives by more than four parameters
// are counted by what becomes of them.
func (t *Invariances) String() string {
	const most = 4
	var gradients []int
	for i, q := range t.Quantities {
		if strings.HasPrefix(q, "∂") {
			gradients = append(gradients, i)
		}
	}
	counted := len(gradients) > most
	rows := [][]string{{"transformation"}}
	for i, q := range t.Quantities {
		switch {
		case !counted || !slices.Contains(gradients, i):
			rows[0] = append(rows[0], q)
		case i == gradients[0]:
			rows[0] = append(rows[0], fmt.Sprintf("derivatives by %d parameters", len(gradients)))
		}
	}
	for _, r := range t.Rows {
		row := []string{r.Transformation}
		for i, a := range r.Responses {
			switch {
			case !counted || !slices.Contains(gradients, i):
				row = append(row, a.text())
			case i == gradients[0]:
				row = append(row, tally(r.Responses[i:i+len(gradients)]))
			}
		}
		rows = append(rows, row)
	}
	return fmt.Sprintf("%s: what %d random transformations make of it, with the largest relative deviation\n", t.Name, t.Trials) + lined("  ", rows)
}

// text is the response with its deviation.
func (r Response) text() string {
	return strings.TrimSuffix(fmt.Sprintf("%v %.0e", r, r.Deviation), "e+00")
}

// tally counts responses by kind: 12 invariant, 3 equivariant.
func tally(responses []Response) string {
	var kinds []string
	count := map[string]int{}
	for _, r := range responses {
		if count[r.String()] == 0 {
			kinds = append(kinds, r.String())
		}
		count[r.String()]++
	}
	var parts []string
	for _, k := range kinds {
		if len(kinds) == 1 {
			return "all " + k
		}
		parts = append(parts, fmt.Sprintf("%s: %d", k, count[k]))
	}
	return strings.Join(parts, ", ")
}
