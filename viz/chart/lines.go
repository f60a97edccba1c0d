package chart

import (
	"io"
	"math"
	"slices"
	"strings"
)

// Lines draws quantities along an axis, such as losses per step.
type Lines struct {
	Frame
	X, Y       string // what the axes measure, with the unit
	LogX, LogY bool   // logarithmic axes
	// FitY chooses the vertical axis by the values, unless LogY is set: logarithmic where all are
	// positive and span three decades or more; linear around 0 and logarithmic beyond where such
	// values have both signs or are 0.
	FitY bool
	// XTicks and YTicks, ascending, are the values to mark on an axis where arbitrary round numbers
	// will not do: the whole numbers of a count, the quarters of 180 degrees. YTicks must all be
	// within the axis. Nil means round numbers.
	XTicks, YTicks []float64
	// Covers are points that the axes include besides the data, for charts side by side that are to
	// have the same axes.
	Covers [][2]float64
	Series []Series
	Rules  []Rule
	Marks  []Mark
	Height float64 // in the unit of Width; 0 means about 280

	linear float64 // by FitY: the vertical axis is linear within ±linear
}

// Series is a line.
type Series struct {
	Name string
	// X and Y have equal lengths; if X is nil, the points are at 0, 1, 2 and so on. The line breaks
	// at a point that cannot be drawn.
	X, Y []float64
	// Lo and Hi, both of Y's length or both nil, bound a band around the line.
	Lo, Hi []float64
	// Group, from 0, selects colour, dash and marker: runs of one method share it.
	Group int
	// Faint draws a thin line: one of many runs, whose typical course is another series. Its name is in
	// the legend if no other series of its group has one, and otherwise beside the pointer alone.
	Faint bool
	// Points draws data points instead of a line, such as those that lines are fitted to. They have
	// no band and cannot be Faint.
	Points bool
}

// Rule is a level to compare the lines with.
type Rule struct {
	Name string
	Y    float64
}

// Mark is a point to be noticed.
type Mark struct {
	Name  string
	X, Y  float64
	Group int
}

// x returns the position of point i.
func (s Series) x(i int) float64 {
	if s.X == nil {
		return float64(i)
	}
	return s.X[i]
}

func (s Series) point(i int) (x, y float64) { return s.x(i), s.Y[i] }

// band returns a bound of the band at i, NaN if the other bound is missing.
func (s Series) band(i int, bound []float64, log bool) (x, y float64) {
	if !drawable(s.Lo[i], log) || !drawable(s.Hi[i], log) {
		return s.x(i), math.NaN()
	}
	return s.x(i), bound[i]
}

// SVG writes the chart as one element. Lines are named at their ends if there is room, otherwise
// in a legend. It is an error if slices have different lengths, a group is negative, or the given
// ticks are impossible.
func (l Lines) SVG(w io.Writer) error {
	if err := l.check(); err != nil {
		return err
	}
	l = l.fitted()
	data := l.measure()
	if data.x.empty() {
		return l.blank(w, l.height(l.Height, 0, linesBody))
	}
	at := l.layOut(data)
	c := l.open(at.height, l.figures(data))
	inner := l.width() - 2*margin
	at.keys.draw(c, point{margin, l.bodyTop()}, inner)
	c.missing(point{margin, at.height - margin}, inner, data.missing, l.LogX || l.LogY)
	at.plane.draw(c, false)
	l.draw(c, at.plane)
	if at.beside {
		drawEndLabels(c, at.plane, at.names)
	}
	l.drawMarks(c, at.plane)
	return c.close(w)
}

// linesLayout says where the parts of a chart of lines are.
type linesLayout struct {
	names  []lineName
	beside bool // whether the names stand at the ends of the lines
	keys   legend
	height float64
	plane  plane
}

// layOut finds the place of every part of a chart that has something to draw.
func (l Lines) layOut(data extent) linesLayout {
	at := linesLayout{names: l.names(data.x), keys: l.keys()}
	inner := l.width() - 2*margin
	column := labelColumn(at.names)
	if !roomBeside(at.names, column, inner, l.height(l.Height, 0, linesBody)-l.bodyTop()) {
		column = 0
		for _, n := range at.names {
			at.keys = append(at.keys, n.key)
		}
	}
	at.beside = column > 0
	_, legendHeight := at.keys.place(inner)
	at.height = l.height(l.Height, legendHeight, linesBody)
	space := box{margin, l.bodyTop() + legendHeight, margin + inner - column, at.height - margin}
	if data.missing > 0 {
		space.bottom -= lineHeight
	}
	horizontal := func(most int) axis { return tightAxis(data.x, l.LogX, most).marked(l.XTicks) }
	vertical := func(most int) axis { return coveringAxis(data.y, l.LogY, most) }
	if l.linear != 0 {
		vertical = func(most int) axis { return signedAxis(data.y, l.linear, most) }
	}
	if l.YTicks != nil {
		within := data.y
		within.add(l.YTicks[0])
		within.add(l.YTicks[len(l.YTicks)-1])
		vertical = func(most int) axis { return tightAxis(within, l.LogY, most).marked(l.YTicks) }
	}
	name := l.Y
	if l.linear != 0 {
		name += " (logarithmic beyond ±" + Format(l.linear) + ")"
	}
	at.plane = newPlane(space, l.width(), horizontal, vertical, l.X, name)
	return at
}

func (l Lines) check() error {
	if err := l.Frame.check(); err != nil {
		return err
	}
	if err := l.checkSide("height", l.Height, 180); err != nil {
		return err
	}
	if err := l.checkTicks("x", l.XTicks, l.LogX); err != nil {
		return err
	}
	if err := l.checkTicks("y", l.YTicks, l.LogY); err != nil {
		return err
	}
	for i, s := range l.Series {
		n := len(s.Y)
		switch {
		case s.X != nil && len(s.X) != n:
			return l.errorf("series %d %q: %d values of x for %d of y", i, s.Name, len(s.X), n)
		case (s.Lo == nil) != (s.Hi == nil):
			return l.errorf("series %d %q: a band needs both lo and hi", i, s.Name)
		case s.Lo != nil && (len(s.Lo) != n || len(s.Hi) != n):
			return l.errorf("series %d %q: %d values of lo and %d of hi for %d of y", i, s.Name, len(s.Lo), len(s.Hi), n)
		case s.Points && (s.Faint || s.Lo != nil):
			return l.errorf("series %d %q: points are neither faint nor have a band", i, s.Name)
		case s.Group < 0:
			return l.errorf("series %d %q: the group %d is negative", i, s.Name, s.Group)
		}
	}
	for i, m := range l.Marks {
		if m.Group < 0 {
			return l.errorf("mark %d %q: the group %d is negative", i, m.Name, m.Group)
		}
	}
	return nil
}

// checkTicks returns an error if an axis cannot have the given ticks.
func (l Lines) checkTicks(name string, ticks []float64, log bool) error {
	if ticks != nil && len(ticks) == 0 {
		return l.errorf("%s: no ticks", name)
	}
	for i, v := range ticks {
		if !drawable(v, log) || i > 0 && v <= ticks[i-1] {
			return l.errorf("%s: tick %d, %v, cannot be drawn or does not ascend", name, i, v)
		}
	}
	return nil
}

// extent is the range of the drawable data.
type extent struct {
	x, y    span
	missing int // points that cannot be drawn
}

// measure finds the range of what can be drawn. It is empty if no point of a series can.
func (l Lines) measure() extent {
	e := extent{x: emptySpan, y: emptySpan}
	include := func(x, y float64) bool {
		if !drawable(x, l.LogX) || !drawable(y, l.LogY) {
			return false
		}
		e.x.add(x)
		e.y.add(y)
		return true
	}
	for _, s := range l.Series {
		for i := range s.Y {
			if !include(s.point(i)) {
				e.missing++
			}
			if s.Lo != nil {
				include(s.band(i, s.Lo, l.LogY))
				include(s.band(i, s.Hi, l.LogY))
			}
		}
	}
	if e.x.empty() {
		return e
	}
	for _, m := range l.Marks {
		if !include(m.X, m.Y) {
			e.missing++
		}
	}
	for _, r := range l.Rules {
		if !include(e.x.hi, r.Y) {
			e.missing++
		}
	}
	for _, p := range l.Covers {
		include(p[0], p[1])
	}
	return e
}

// fitted chooses the vertical axis if the chart leaves it open.
func (l Lines) fitted() Lines {
	if !l.FitY || l.LogY || l.YTicks != nil {
		return l
	}
	var values []float64
	for _, s := range l.Series {
		values = append(append(append(values, s.Y...), s.Lo...), s.Hi...)
	}
	l.LogY, l.linear = fitting(values)
	return l
}

// names returns the names of the bold lines and the rules, with their ends.
func (l Lines) names(x span) []lineName {
	var names []lineName
	for _, s := range l.Series {
		if f := l.summarise(s); !s.Faint && !s.Points && s.Name != "" && f.n > 0 {
			names = append(names, lineName{s.Name, groupInk(s.Group), f.lastX, f.last, lineKey(s.Name, s.Group)})
		}
	}
	for _, r := range l.Rules {
		if r.Name != "" && drawable(r.Y, l.LogY) {
			names = append(names, lineName{r.Name, noteInk, x.hi, r.Y, ruleKey(r.Name)})
		}
	}
	return names
}

// keys returns the entries of data points and faint lines in the legend.
func (l Lines) keys() legend {
	var keys legend
	for _, s := range l.Series {
		switch {
		case s.Name == "" || l.summarise(s).n == 0:
		case s.Points:
			keys = append(keys, shapeKey(s.Name, s.Group, groupInk(s.Group)))
		case s.Faint && l.namesGroup(s):
			keys = append(keys, faintKey(s.Name, s.Group))
		}
	}
	return keys
}

// namesGroup reports whether s is the only series of its group that has a name.
func (l Lines) namesGroup(s Series) bool {
	named := 0
	for _, other := range l.Series {
		if other.Group == s.Group && other.Name != "" {
			named++
		}
	}
	return named == 1 && s.Name != ""
}

// draw draws the lines, from bottom to top.
func (l Lines) draw(c *canvas, p plane) {
	for _, s := range l.Series {
		if s.Lo != nil {
			l.drawBand(c, p, s)
		}
	}
	for _, r := range l.Rules {
		if drawable(r.Y, l.LogY) {
			y := p.y.at(r.Y)
			c.line(point{p.left, y}, point{p.right, y}, ruleStroke())
		}
	}
	for _, s := range l.Series {
		if s.Points {
			l.drawPoints(c, p, s)
		}
	}
	for _, faint := range [...]bool{true, false} {
		for _, s := range l.Series {
			if s.Faint == faint && !s.Points {
				l.drawSeries(c, p, s)
			}
		}
	}
}

// drawPoints draws a series as one path of hollow shapes.
func (l Lines) drawPoints(c *canvas, p plane, s Series) {
	var drawn strings.Builder
	for i := range s.Y {
		if x, y := s.point(i); drawable(x, l.LogX) && drawable(y, l.LogY) {
			drawn.WriteString(string(shape(s.Group, point{p.x.at(x), p.y.at(y)}, pointRadius)))
		}
	}
	if drawn.Len() > 0 {
		c.printf("<path d=\"%v\"%v><title>%v</title></path>\n", raw(drawn.String()), groupInk(s.Group).hollow(), l.sentence(s))
	}
}

func (l Lines) drawSeries(c *canvas, p plane, s Series) {
	line := newCurve(len(s.Y), s.point, p.x, p.y)
	if len(line) == 0 {
		return
	}
	how, d := groupInk(s.Group).stroke()+` fill="none" stroke-linejoin="round" stroke-linecap="round"`, line.path
	if s.Faint {
		how, d = how+faintStroke, line.faint
	} else {
		how += ` stroke-width="2.2"` + dash(s.Group)
	}
	c.printf("<g%v><title>%v</title><path d=\"%v\"/></g>\n", how, l.sentence(s), d())
	if s.Faint {
		return
	}
	_, last := line.ends()
	markers := append(line.spread(4, .3+.17*float64(s.Group%4)), last)
	for _, m := range markers {
		c.marker(s.Group, m, 4)
	}
}

func (l Lines) drawBand(c *canvas, p plane, s Series) {
	edge := func(bound []float64) curve {
		return newCurve(len(s.Y), func(i int) (float64, float64) { return s.band(i, bound, l.LogY) }, p.x, p.y)
	}
	low := edge(s.Lo)
	for i, high := range edge(s.Hi) {
		outline := straightened(columns(high, 1))
		below := straightened(columns(low[i], 1))
		slices.Reverse(below)
		c.printf("<path d=\"%vZ\"%v fill-opacity=\".16\"/>\n", path(append(outline, below...)), groupInk(s.Group).fill())
	}
}

func (l Lines) drawMarks(c *canvas, p plane) {
	var taken []box
	for _, m := range l.Marks {
		if !drawable(m.X, l.LogX) || !drawable(m.Y, l.LogY) {
			continue
		}
		q := point{p.x.at(m.X), p.y.at(m.Y)}
		c.marker(m.Group, q, 5.5)
		taken = drawNoteAt(c, q, m.Name, p.box, taken)
	}
}
