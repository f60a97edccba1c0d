package geometry

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/table"
)

// numberText writes a number to four digits, for tables.
func numberText(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return table.Number(v, 4)
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
	return fmt.Sprintf("%s: what %d random transformations make of it, with the largest relative deviation\n", t.Name, t.Trials) + table.Lines("  ", rows)
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
