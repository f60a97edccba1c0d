package chart

import (
	"fmt"
	"io"
	"strings"
)

// Bars draws groups of horizontal bars, each with its value, such as the costs of two programs.
// The height follows from the number of bars.
type Bars struct {
	Frame
	Series []string // names of the bars of each row, in order
	Rows   []Row
	// OwnScale scales each row to its own longest bar, for rows that measure
	// different things. Otherwise all rows share a scale.
	OwnScale bool
}

// Row is a group of bars.
type Row struct {
	Name   string
	Unit   string    // written after each value
	Values []float64 // one per series; NaN where there is none
}

// Sizes of bars, in pixels.
const (
	barHeight = 16.0
	barPitch  = 20.0 // from one bar to the next
	rowGap    = 14.0
	tipGap    = 6.0 // from a bar to its value
)

// barOpacity tells the bars of a row apart by fill: full, half, hollow.
var barOpacity = [...]float64{1, .4, 0, .7, .2}

// SVG writes the chart as one element. It is an error if a row's values do not match the series.
func (b Bars) SVG(w io.Writer) error {
	if err := b.check(); err != nil {
		return err
	}
	if !b.drawable() {
		return b.blank(w, b.bodyTop()+80)
	}
	var keys legend
	if len(b.Series) > 1 {
		for i, name := range b.Series {
			keys = append(keys, key{name, func(c *canvas, at point) {
				drawBar(c, i, point{at.x, at.y - shapeSample/2}, shapeSample, shapeSample)
			}, shapeSample})
		}
	}
	inner := b.width() - 2*margin
	body := b.bodyTop()
	_, legendHeight := keys.place(inner)
	top := body + legendHeight + 6
	rowHeight := barPitch*float64(len(b.Series)) + rowGap
	c := b.open(top+rowHeight*float64(len(b.Rows))-rowGap+margin, b.figures())
	keys.draw(c, point{margin, body}, inner)

	var nameWidth float64
	for _, r := range b.Rows {
		nameWidth = max(nameWidth, textWidth(r.Name, labelFont.size))
	}
	nameWidth = min(nameWidth, .3*inner)
	for i, r := range b.Rows {
		y := top + rowHeight*float64(i)
		mid := y + barPitch*float64(len(b.Series))/2 - (barPitch-barHeight)/2
		c.text(point{margin, mid + 4}, start, labelFont, fitted(r.Name, labelFont.size, nameWidth))
		b.drawRow(c, r, b.scale(i, margin+nameWidth+labelGap), y)
	}
	return c.close(w)
}

// scale maps the values of row r to pixels right of left, with room for the values at the ends of
// the bars.
func (b Bars) scale(r int, left float64) axis {
	var before, after float64
	values := span{0, 0}
	for i, row := range b.Rows {
		for _, v := range row.Values {
			room := textWidth(b.shortLabel(row, v), noteFont.size) + tipGap
			if drawable(v, false) && v < 0 {
				before = max(before, room)
			} else {
				after = max(after, room)
			}
			if drawable(v, false) && (!b.OwnScale || i == r) {
				values.add(v)
			}
		}
	}
	if values.lo == values.hi {
		values.hi = 1 // all values are 0
	}
	return axis{span: values}.between(left+before, b.width()-margin-after)
}

// drawRow draws the bars of a row below y, and the line that they start from.
func (b Bars) drawRow(c *canvas, r Row, scale axis, y float64) {
	zero := scale.at(0)
	for i, v := range r.Values {
		top := y + barPitch*float64(i)
		tip, a := point{zero + tipGap, top + barHeight/2 + 4}, start
		if drawable(v, false) {
			x := scale.at(v)
			c.printf("<g><title>%v</title>", r.Name+", "+b.Series[i]+": "+r.label(v))
			drawBar(c, i, point{min(zero, x), top}, max(zero, x)-min(zero, x), barHeight)
			c.printf("</g>\n")
			tip.x = x + tipGap
			if v < 0 {
				tip.x, a = x-tipGap, end
			}
		}
		c.text(tip, a, noteFont, b.shortLabel(r, v))
	}
	c.line(point{zero, y - 3}, point{zero, y + barPitch*float64(len(b.Series)) - 1}, axisInk.stroke())
}

// drawBar draws a bar in the fill of its series.
func drawBar(c *canvas, series int, corner point, width, height float64) {
	k := groupInk(series)
	c.printf(`<rect x="%v" y="%v" width="%v" height="%v"%v fill-opacity="%v"/>`,
		corner.x, corner.y, width, height, k.both(k, `stroke-width="1.4"`), barOpacity[series%len(barOpacity)])
}

// label returns a value as it is written at its bar.
func (r Row) label(v float64) string {
	switch {
	case !drawable(v, false):
		return "no value"
	case r.Unit == "":
		return Format(v)
	}
	return Format(v) + "\u00a0" + r.Unit
}

// shortLabel returns a value's label, with a long unit cut to leave room for bars.
func (b Bars) shortLabel(r Row, v float64) string {
	return fitted(r.label(v), noteFont.size, .25*(b.width()-2*margin))
}

func (b Bars) check() error {
	if err := b.Frame.check(); err != nil {
		return err
	}
	for i, r := range b.Rows {
		if len(r.Values) != len(b.Series) {
			return b.errorf("row %d %q: %d values for %d series", i, r.Name, len(r.Values), len(b.Series))
		}
	}
	return nil
}

// drawable reports whether there is a bar to draw.
func (b Bars) drawable() bool {
	for _, r := range b.Rows {
		for _, v := range r.Values {
			if drawable(v, false) {
				return true
			}
		}
	}
	return false
}

// figures describes the chart to readers who cannot see it.
func (b Bars) figures() string {
	said := []string{"Bar chart."}
	for _, r := range b.Rows {
		var values []string
		for i, v := range r.Values {
			values = append(values, strings.TrimPrefix(b.Series[i]+" ", " ")+r.label(v))
		}
		said = append(said, fmt.Sprintf("%s: %s.", r.Name, strings.Join(values, ", ")))
	}
	return strings.Join(said, " ")
}
