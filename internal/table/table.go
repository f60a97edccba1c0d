// Package table sets tables for a terminal: cells in columns, numbers to a few digits.
package table

import (
	"fmt"
	"math"
	"strings"
	"unicode"
)

// Lines returns one line per row, with the cells in columns two blanks apart. The first column is
// aligned left; in the others, a cell that begins with a digit, a sign or a blank is aligned right.
// Every line begins with indent and ends with a newline.
func Lines(indent string, rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		line.WriteString(indent)
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-Width(cell))
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

// Width returns the number of terminal columns that s takes. Combining marks, as in r̂, take none.
func Width(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.Is(unicode.Mn, r) {
			n++
		}
	}
	return n
}

// Number formats v to so many significant digits, and without an exponent below ten million.
// NaN is "–".
func Number(v float64, digits int) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	}
	text := fmt.Sprintf("%.*g", digits, v)
	if strings.Contains(text, "e+") && math.Abs(v) < 1e7 {
		return fmt.Sprintf("%.0f", v)
	}
	return text
}
