package chart

// plane is a plot: two axes with their names and the space they take.
type plane struct {
	box
	x, y         axis
	xName, yName string
	edge         float64 // the right end of the chart
}

// newPlane lays out a plot in the space b, which also contains the names and tick labels, on a
// chart of the given width. The axes are made with at most the given number of ticks.
func newPlane(b box, width float64, horizontal, vertical func(most int) axis, xName, yName string) plane {
	p := plane{xName: xName, yName: yName, edge: width - 2}
	b.top += 8
	if yName != "" {
		b.top += lineHeight
	}
	b.bottom -= lineHeight
	if xName != "" {
		b.bottom -= lineHeight
	}
	p.y = vertical(max(5, min(8, int((b.bottom-b.top)/26))))
	b.left += p.y.labelWidth() + 8
	p.box = b
	for most := 9; most >= 3; most-- {
		p.x = horizontal(most).between(b.left, b.right)
		fitting := p.fitting()
		if len(fitting) == len(p.x.ticks) {
			break
		}
		p.x.ticks = fitting
	}
	p.y = p.y.between(b.bottom, b.top)
	return p
}

// fitting returns the ticks of the horizontal axis whose labels do not overlap.
func (p plane) fitting() []tick {
	var ticks []tick
	free := 0.0
	for _, t := range p.x.ticks {
		half := textWidth(t.label, noteFont.size) / 2
		if x := p.labelAt(t); x-half >= free {
			ticks = append(ticks, t)
			free = x + half + 8
		}
	}
	return ticks
}

// labelAt returns the middle of a tick's label on the horizontal axis: below the tick unless the
// label would leave the chart.
func (p plane) labelAt(t tick) float64 {
	return min(p.x.at(t.value), p.edge-textWidth(t.label, noteFont.size)/2)
}

// draw draws grid, ticks and names. A scatter plot has lines both ways.
func (p plane) draw(c *canvas, bothWays bool) {
	grid := gridInk.stroke() + ` stroke-width="1"`
	for _, t := range p.y.ticks {
		y := p.y.at(t.value)
		c.line(point{p.left, y}, point{p.right, y}, grid)
		c.text(point{p.left - 8, y + 4}, end, noteFont, t.label)
	}
	for _, t := range p.x.ticks {
		x := p.x.at(t.value)
		if bothWays {
			c.line(point{x, p.top}, point{x, p.bottom}, grid)
		} else {
			c.line(point{x, p.bottom}, point{x, p.bottom + 4}, axisInk.stroke())
		}
		c.text(point{p.labelAt(t), p.bottom + lineHeight + 1}, middle, noteFont, t.label)
	}
	if !bothWays {
		c.line(point{p.left, p.bottom}, point{p.right, p.bottom}, axisInk.stroke())
	}
	if p.yName != "" {
		c.text(point{margin, p.top - 10}, start, noteFont, fitted(p.yName, noteFont.size, p.edge-margin))
	}
	if p.xName != "" {
		c.text(point{p.right, p.bottom + 2*lineHeight}, end, noteFont, fitted(p.xName, noteFont.size, p.right-margin))
	}
}
