package chart

// key is an entry of a legend.
type key struct {
	name   string
	sample func(c *canvas, at point) // draws to the right of at, which is at mid-height
	wide   float64                   // of the sample
}

// Sizes of a legend, in pixels.
const (
	lineSample  = 28.0
	shapeSample = 12.0
	pointRadius = 2.8 // of data points
	keyGap      = 5   // between sample and name
	keySpace    = 18  // between entries
	legendRow   = 20
)

// lineKey returns the entry of a line with the group's colour, dash and marker.
func lineKey(name string, group int) key {
	return key{name, func(c *canvas, at point) {
		c.line(at, point{at.x + lineSample, at.y}, groupInk(group).stroke()+` stroke-width="2.2"`+dash(group))
		c.marker(group, point{at.x + lineSample/2, at.y}, 4)
	}, lineSample}
}

// faintStroke is how faint lines are drawn.
const faintStroke = ` stroke-width="1" stroke-opacity=".3"`

// faintKey returns the entry of faint lines.
func faintKey(name string, group int) key {
	return key{name, func(c *canvas, at point) {
		c.line(at, point{at.x + lineSample, at.y}, groupInk(group).stroke()+faintStroke)
	}, lineSample}
}

// vectorKey returns the entry of arrows with the group's colour and dash.
func vectorKey(name string, group int) key {
	return key{name, func(c *canvas, at point) {
		to := point{at.x + lineSample, at.y}
		c.line(at, to, groupInk(group).stroke()+` stroke-width="2"`+dash(group))
		c.printf("<path d=\"%v\"%v fill=\"none\" stroke-width=\"2\"/>\n", arrowHead(at, to, 7), groupInk(group).stroke())
	}, lineSample}
}

// shapeKey returns the entry of data points with the group's shape.
func shapeKey(name string, group int, colour ink) key {
	return key{name, func(c *canvas, at point) {
		c.printf("<path d=\"%v\"%v/>\n", shape(group, point{at.x + shapeSample/2, at.y}, 4), colour.hollow())
	}, shapeSample}
}

// ruleKey returns the entry of a rule.
func ruleKey(name string) key {
	return key{name, func(c *canvas, at point) {
		c.line(at, point{at.x + lineSample, at.y}, ruleStroke())
	}, lineSample}
}

// ruleStroke draws a level that is not data.
func ruleStroke() raw { return noteInk.stroke() + ` stroke-dasharray="1.5 3" stroke-width="1.4"` }

// legend is a list of entries, set in rows.
type legend []key

// place returns where each entry begins, relative to the legend's corner.
func (l legend) place(width float64) (at []point, height float64) {
	p := point{0, legendRow / 2}
	for _, k := range l {
		w := k.wide + keyGap + textWidth(l.fit(k, width), labelFont.size)
		if p.x > 0 && p.x+w > width {
			p = point{0, p.y + legendRow}
		}
		at = append(at, p)
		p.x += w + keySpace
	}
	if len(l) == 0 {
		return nil, 0
	}
	return at, p.y + legendRow/2 + 4
}

// fit returns the entry's name, shortened to a width.
func (l legend) fit(k key, width float64) string {
	return fitted(k.name, labelFont.size, width-k.wide-keyGap)
}

// draw draws the legend with its corner at p.
func (l legend) draw(c *canvas, p point, width float64) {
	at, _ := l.place(width)
	for i, k := range l {
		q := point{p.x + at[i].x, p.y + at[i].y}
		k.sample(c, q)
		c.text(point{q.x + k.wide + keyGap, q.y + 4}, start, labelFont, l.fit(k, width))
	}
}
