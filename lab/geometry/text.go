package geometry

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/internal/table"
)

// numberText formats a number to four digits; NaN is "-".
func numberText(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return table.Number(v, 4)
}

// pairText formats the coordinates of a point of a plane.
func pairText(a, b float64) string { return fmt.Sprintf("(%s, %s)", numberText(a), numberText(b)) }

// pathTable collects a table with one column per step that is shown.
type pathTable struct {
	shown []int // at most five steps of the path, evenly spread, with both ends
	rows  [][]string
}

func newPathTable(title string, steps int) *pathTable {
	t := &pathTable{}
	head := []string{title}
	for k := range min(steps, 5) {
		i := k * (steps - 1) / max(1, min(steps, 5)-1)
		t.shown = append(t.shown, i)
		head = append(head, fmt.Sprintf("  step %d", i))
	}
	t.rows = [][]string{head}
	return t
}

// add appends a row with the cell of each step that is shown.
func (t *pathTable) add(name string, cell func(step int) string) {
	row := []string{name}
	for _, i := range t.shown {
		row = append(row, cell(i))
	}
	t.rows = append(t.rows, row)
}

func (t *pathTable) String() string { return table.Lines("  ", t.rows) }
