package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Matrix draws numbers by row and column, each on a background that is the stronger the larger
// its magnitude: how often a classifier took one class for another, how much a decoder attends to
// each word.
type Matrix struct {
	Frame
	Down, Across  string // names of the two directions
	Rows, Columns []string
	Values        [][]float64 // one row for each of Rows, one value for each of Columns
	// Bare leaves out the numbers, for which a large matrix has no room.
	Bare bool
}

// Sizes of a matrix in pixels, and the strongest background on which text is legible.
const (
	cellHeight     = 26.0
	mostCellWidth  = 44.0
	leastCellWidth = 8.0
	mostGround     = .55
)

// SVG writes the chart as one element. It is an error if values do not match the names of rows
// and columns, or there is no room for the columns.
func (m Matrix) SVG(w io.Writer) error {
	if err := m.check(); err != nil {
		return err
	}
	if len(m.Rows) == 0 || len(m.Columns) == 0 {
		return m.blank(w, m.bodyTop()+80)
	}
	left, cell := m.layOut()
	top := m.bodyTop() + 6 + lineHeight
	if m.Across != "" {
		top += lineHeight
	}
	right, bottom := left+float64(cell*float64(len(m.Columns))), top+float64(cellHeight*float64(len(m.Rows)))
	c := m.open(bottom+margin, m.figures())
	if m.Across != "" {
		c.text(point{right, top - lineHeight - 8}, end, noteFont, fitted(m.Across, noteFont.size, right-margin))
	}
	for j, name := range m.Columns {
		c.text(point{left + float64(cell*(float64(j)+.5)), top - 6}, middle, labelFont, fitted(name, labelFont.size, cell))
	}
	if m.Down != "" {
		c.text(point{margin, top - 6}, start, noteFont, fitted(m.Down, noteFont.size, left-margin-labelGap))
	}
	most := m.most()
	for i, name := range m.Rows {
		y := top + float64(cellHeight*float64(i))
		c.text(point{left - labelGap, y + cellHeight/2 + 4}, end, labelFont, fitted(name, labelFont.size, left-margin-labelGap))
		for j, v := range m.Values[i] {
			x := left + float64(cell*float64(j))
			ink, strength := m.ground(v, most)
			if strength > 0 {
				c.printf(`<rect x="%v" y="%v" width="%v" height="%v"%v fill-opacity="%v"/>`+"\n", x, y, cell, cellHeight, ink.fill(), raw(fmt.Sprintf("%.2g", strength)))
			}
			if !m.Bare {
				c.text(point{x + cell/2, y + cellHeight/2 + 4}, middle, m.font(v), fitted(m.text(v), labelFont.size, cell-2))
			}
		}
	}
	for j := range len(m.Columns) + 1 {
		x := left + float64(cell*float64(j))
		c.line(point{x, top}, point{x, bottom}, gridInk.stroke())
	}
	for i := range len(m.Rows) + 1 {
		y := top + float64(cellHeight*float64(i))
		c.line(point{left, y}, point{right, y}, gridInk.stroke())
	}
	return c.close(w)
}

// layOut returns where the cells begin, and their width.
func (m Matrix) layOut() (left, cell float64) {
	inner := m.width() - 2*margin
	names := min(textWidth(m.Down, noteFont.size), .3*inner)
	for _, name := range m.Rows {
		names = max(names, min(textWidth(name, labelFont.size), .3*inner))
	}
	left = margin + names + labelGap
	return left, min(mostCellWidth, (m.width()-margin-left)/float64(max(1, len(m.Columns))))
}

// most returns the largest magnitude.
func (m Matrix) most() float64 {
	most := 0.0
	for _, row := range m.Values {
		for _, v := range row {
			if drawable(v, false) {
				most = max(most, math.Abs(v))
			}
		}
	}
	return orDefault(most, 1)
}

// ground returns the colour behind a value and its strength, which grows like the square root, so
// that rare values are visible beside frequent ones.
func (m Matrix) ground(v, most float64) (ink, float64) {
	switch {
	case !drawable(v, false):
		return gridInk, 0
	case v < 0:
		return groupInks[1], mostGround * math.Sqrt(-v/most)
	}
	return groupInks[0], mostGround * math.Sqrt(v/most)
}

// font returns the font of a value; zeros are pale.
func (m Matrix) font(v float64) font {
	if v == 0 {
		return noteFont
	}
	return labelFont
}

func (m Matrix) text(v float64) string {
	switch {
	case v == 0:
		return "·"
	case !drawable(v, false):
		return "–"
	}
	return Format(v)
}

func (m Matrix) check() error {
	if err := m.Frame.check(); err != nil {
		return err
	}
	if len(m.Values) != len(m.Rows) {
		return m.errorf("%d rows of values for %d names", len(m.Values), len(m.Rows))
	}
	for i, row := range m.Values {
		if len(row) != len(m.Columns) {
			return m.errorf("row %d %q: %d values for %d columns", i, m.Rows[i], len(row), len(m.Columns))
		}
	}
	if _, cell := m.layOut(); cell < leastCellWidth {
		return m.errorf("%d columns do not fit into a width of %v", len(m.Columns), m.width())
	}
	if len(m.Rows) > 150 {
		return m.errorf("%d rows: want at most 150", len(m.Rows))
	}
	return nil
}

// figures describes the chart to readers who cannot see it: the largest entry of each row.
func (m Matrix) figures() string {
	said := []string{strings.TrimSpace(fmt.Sprintf("Matrix of %d × %d. %s", len(m.Rows), len(m.Columns), strings.TrimSpace(m.Down+" "+m.Across)))}
	for i, row := range m.Values {
		best := -1
		for j, v := range row {
			if drawable(v, false) && (best < 0 || v > row[best]) {
				best = j
			}
		}
		if best >= 0 {
			said = append(said, fmt.Sprintf("%s: most %s, at %s.", m.Rows[i], Format(row[best]), m.Columns[best]))
		}
	}
	return strings.Join(said, " ")
}
