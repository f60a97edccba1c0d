package chart

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Scatter draws data points by class, and the paths of centres among them.
type Scatter struct {
	Frame
	X, Y string // what the axes measure, with the unit
	// Points are the data. Points that are not finite are left out and counted.
	Points [][2]float64
	// Backdrop is further data behind all else, as small dots that are told apart from nothing, and
	// BackdropName its entry in the legend.
	Backdrop     [][2]float64
	BackdropName string
	// Cloud is the same from elsewhere in the page; it needs EqualAspect. Nil is none.
	Cloud *Cloud
	// Class has the index of each point into ClassNames. If it is nil, all points look alike.
	Class      []int
	ClassNames []string
	// Names are written beside the points as far as there is room, the first ones first. Nil writes
	// none.
	Names []string
	Paths []Path
	// Vectors are drawn below the paths.
	Vectors []Vector
	// Covers are points that the axes include besides the data; what is not finite does not count.
	Covers [][2]float64
	// EqualAspect makes a unit equally long on both axes, so that distances are true.
	EqualAspect bool
	// Height is in the unit of Width. 0 means about 360 or, with EqualAspect, a height that suits
	// the data's proportions.
	Height float64
}

// Path is the path of a centre during training. Paths of one method share Name and Group and have
// one entry in the legend.
type Path struct {
	Name   string
	Group  int // from 0; selects colour, dash and marker
	Points [][2]float64
}

// SVG writes the chart as one element: small hollow shapes for the data, a ring at the beginning
// of each path and a large marker at its end. It is an error if classes do not match the points,
// or a group is negative.
func (s Scatter) SVG(w io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	data := s.measure()
	if data.x.empty() {
		return s.blank(w, s.height(s.Height, 0, scatterBody))
	}
	keys, height, p := s.layOut(data)
	inner := s.width() - 2*margin
	c := s.open(height, s.figures(data))
	keys.draw(c, point{margin, s.bodyTop()}, inner)
	c.missing(point{margin, height - margin}, inner, data.missing, false)
	p.draw(c, true)
	s.drawCloud(c, p)
	s.drawBackdrop(c, p)
	s.drawPoints(c, p)
	s.drawNames(c, p)
	s.drawVectors(c, p)
	s.drawPaths(c, p)
	return c.close(w)
}

// layOut finds the place of every part of a plot that has something to draw.
func (s Scatter) layOut(data extent) (keys legend, height float64, p plane) {
	keys = s.keys()
	inner := s.width() - 2*margin
	_, legendHeight := keys.place(inner)
	height = s.height(s.Height, legendHeight, scatterBody)
	layOut := func(e extent) plane {
		space := box{margin, s.bodyTop() + legendHeight, margin + inner, height - margin}
		if e.missing > 0 {
			space.bottom -= lineHeight
		}
		horizontal := func(most int) axis { return tightAxis(e.x, false, most) }
		vertical := func(most int) axis { return tightAxis(e.y, false, most) }
		return newPlane(space, s.width(), horizontal, vertical, s.X, s.Y)
	}
	p = layOut(data)
	if s.EqualAspect {
		if s.Height == 0 {
			proportion := (data.y.hi - data.y.lo) / (data.x.hi - data.x.lo)
			height += float64((p.right-p.left)*max(.4, min(1.1, proportion))) - (p.bottom - p.top)
		}
		// The ticks depend on the bounds, the room for their labels on the ticks, and the bounds on
		// that room: a few rounds settle it.
		for range 3 {
			p = layOut(equalised(data, p))
		}
	}
	return keys, height, p
}

// equalised widens x or y around its middle until a unit is equally long on both in the plot p.
func equalised(e extent, p plane) extent {
	width, height := p.right-p.left, p.bottom-p.top
	unit := max((e.x.hi-e.x.lo)/width, (e.y.hi-e.y.lo)/height)
	about := func(s span, length float64) span {
		mid := s.lo + (s.hi-s.lo)/2
		return span{mid - length/2, mid + length/2}
	}
	e.x, e.y = about(e.x, unit*width), about(e.y, unit*height)
	return e
}

func (s Scatter) check() error {
	if err := s.Frame.check(); err != nil {
		return err
	}
	if err := s.checkSide("height", s.Height, 180); err != nil {
		return err
	}
	if s.Cloud != nil {
		if err := s.Cloud.check(); err != nil {
			return s.errorf("%w", err)
		}
		if !s.EqualAspect {
			return s.errorf("a cloud in a chart whose axes have different units")
		}
	}
	if s.Class != nil && len(s.Class) != len(s.Points) {
		return s.errorf("%d classes for %d points", len(s.Class), len(s.Points))
	}
	if s.Names != nil && len(s.Names) != len(s.Points) {
		return s.errorf("%d names for %d points", len(s.Names), len(s.Points))
	}
	for i, k := range s.Class {
		if k < 0 || k >= len(s.ClassNames) {
			return s.errorf("point %d: the class %d is not one of %d", i, k, len(s.ClassNames))
		}
	}
	for i, p := range s.Paths {
		if p.Group < 0 {
			return s.errorf("path %d %q: the group %d is negative", i, p.Name, p.Group)
		}
	}
	for i, v := range s.Vectors {
		if v.Group < 0 {
			return s.errorf("vector %d %q: the group %d is negative", i, v.Name, v.Group)
		}
	}
	return nil
}

// measure finds the range of what can be drawn, with some room around it.
func (s Scatter) measure() extent {
	e := extent{x: emptySpan, y: emptySpan}
	include := func(p [2]float64) {
		if !drawable(p[0], false) || !drawable(p[1], false) {
			e.missing++
			return
		}
		e.x.add(p[0])
		e.y.add(p[1])
	}
	for _, p := range slices.Concat(s.cloud().Points, s.Backdrop, s.Points) {
		include(p)
	}
	for _, path := range s.Paths {
		for _, p := range path.Points {
			include(p)
		}
	}
	for _, v := range s.Vectors {
		include(v.From)
		include(v.To)
	}
	if e.x.empty() {
		return e
	}
	missing := e.missing
	for _, p := range s.Covers {
		include(p)
	}
	e.missing = missing
	e.x, e.y = padded(e.x), padded(e.y)
	return e
}

// padded widens s so that markers at its bounds stay inside the plot.
func padded(s span) span {
	s = s.opened(false)
	room := .05 * (s.hi - s.lo)
	return span{s.lo - room, s.hi + room}
}

// cloud returns the cloud, empty without one.
func (s Scatter) cloud() Cloud {
	if s.Cloud == nil {
		return Cloud{}
	}
	return *s.Cloud
}

// backdrops returns what is behind all else.
func (s Scatter) backdrops() [2]Cloud {
	return [2]Cloud{s.cloud(), {Name: s.BackdropName, Points: s.Backdrop}}
}

// class returns the class of point i.
func (s Scatter) class(i int) int {
	if s.Class == nil {
		return 0
	}
	return s.Class[i]
}

// classes returns the number of classes that are drawn.
func (s Scatter) classes() int {
	if s.Class == nil {
		return 1
	}
	return len(s.ClassNames)
}

func (s Scatter) className(class int) string {
	if class < len(s.ClassNames) {
		return s.ClassNames[class]
	}
	return ""
}

// keys returns the entries of the legend: the classes, then the paths.
func (s Scatter) keys() legend {
	var l legend
	for _, b := range s.backdrops() {
		if len(b.Points) > 0 && b.Name != "" {
			l = append(l, key{b.Name, func(c *canvas, at point) {
				c.dots("", []point{{at.x + shapeSample/2, at.y}})
			}, shapeSample})
		}
	}
	if len(s.Points) > 0 {
		for class := range s.classes() {
			if name := s.className(class); name != "" {
				l = append(l, shapeKey(name, class, classInk(class)))
			}
		}
	}
	for _, p := range s.methods() {
		l = append(l, p.key(p.name, p.group))
	}
	return l
}

// method has what paths of one method share.
type method struct {
	name  string
	group int
}

// sort is a method with what draws its entry in the legend.
type sort struct {
	method
	key func(name string, group int) key
}

// methods returns the distinct named methods among the paths, and then the kinds of vectors.
func (s Scatter) methods() []sort {
	var list []sort
	add := func(m method, key func(string, int) key, seen map[method]bool) {
		if m.name != "" && !seen[m] {
			seen[m] = true
			list = append(list, sort{m, key})
		}
	}
	paths, vectors := map[method]bool{}, map[method]bool{}
	for _, p := range s.Paths {
		add(method{p.Name, p.Group}, lineKey, paths)
	}
	for _, v := range s.Vectors {
		add(method{v.Name, v.Group}, vectorKey, vectors)
	}
	return list
}

// drawPoints draws each class as one path. Points of a class that fall on the
// same tenth of a pixel are drawn once.
func (s Scatter) drawPoints(c *canvas, p plane) {
	type spot struct {
		class int
		data  raw
	}
	seen := map[spot]bool{}
	drawn := make([]strings.Builder, s.classes())
	counts := make([]int, s.classes())
	for i, v := range s.Points {
		if !drawable(v[0], false) || !drawable(v[1], false) {
			continue
		}
		class := s.class(i)
		counts[class]++
		d := spot{class, shape(class, point{p.x.at(v[0]), p.y.at(v[1])}, pointRadius)}
		if !seen[d] {
			seen[d] = true
			drawn[class].WriteString(string(d.data))
		}
	}
	for class, d := range drawn {
		if d.Len() > 0 {
			c.printf("<path d=\"%v\"%v><title>%v</title></path>\n", raw(d.String()), classInk(class).hollow(),
				strings.TrimPrefix(s.className(class)+": ", ": ")+count(counts[class], "point"))
		}
	}
}

// drawBackdrop draws the dots behind all else. Those on the same tenth of a pixel are drawn once.
func (s Scatter) drawBackdrop(c *canvas, p plane) {
	seen := map[raw]bool{}
	var at []point
	shown := 0
	for _, v := range s.Backdrop {
		if !drawable(v[0], false) || !drawable(v[1], false) {
			continue
		}
		shown++
		q := point{p.x.at(v[0]), p.y.at(v[1])}
		if spot := number(q.x) + " " + number(q.y); !seen[spot] {
			seen[spot] = true
			at = append(at, q)
		}
	}
	if len(at) > 0 {
		c.dots(strings.TrimPrefix(s.BackdropName+": ", ": ")+count(shown, "point"), at)
	}
}

// dotWidth is the width of a dot in pixels.
const dotWidth = 4.

// dots draws small dots as one path, with a title unless it is empty.
func (c *canvas) dots(title string, at []point) {
	var d canvas
	for _, p := range at {
		d.printf("M%v %vH%v", p.x, p.y, p.x)
	}
	said := raw("")
	if title != "" {
		said = "<title>" + escape(title) + "</title>"
	}
	c.printf("<path d=\"%v\"%v fill=\"none\" stroke-width=\"%v\" stroke-opacity=\".45\" stroke-linecap=\"round\">%v</path>\n", raw(d.String()), noteInk.stroke(), dotWidth, said)
}

// drawNames writes names where they cover neither a point nor another name.
func (s Scatter) drawNames(c *canvas, p plane) {
	if s.Names == nil {
		return
	}
	var taken []box
	at := make([]point, len(s.Points))
	for i, v := range s.Points {
		if drawable(v[0], false) && drawable(v[1], false) {
			at[i] = point{p.x.at(v[0]), p.y.at(v[1])}
			taken = append(taken, box{at[i].x - 3, at[i].y - 3, at[i].x + 3, at[i].y + 3})
		}
	}
	for i, v := range s.Points {
		if s.Names[i] != "" && drawable(v[0], false) && drawable(v[1], false) {
			taken = drawNoteAt(c, at[i], s.Names[i], p.box, taken)
		}
	}
}

// drawPaths draws the paths above the data, and the ends of all paths on top.
func (s Scatter) drawPaths(c *canvas, p plane) {
	type finish struct {
		group int
		at    point
	}
	var ends []finish
	for _, way := range s.Paths {
		line := newCurve(len(way.Points), func(i int) (x, y float64) { return way.Points[i][0], way.Points[i][1] }, p.x, p.y)
		if len(line) == 0 {
			continue
		}
		d := line.path()
		c.printf("<g fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"><title>%v</title>", way.sentence())
		c.printf(`<path d="%v"%v stroke-width="5" stroke-opacity=".8"/>`, d, pageInk.stroke())
		c.printf(`<path d="%v"%v stroke-width="2.2"%v/>`+"</g>\n", d, groupInk(way.Group).stroke(), dash(way.Group))
		from, to := line.ends()
		c.printf(`<path d="%v"%v/>`+"\n", shape(0, from, 3.2), groupInk(way.Group).opened())
		ends = append(ends, finish{way.Group, to})
	}
	for _, e := range ends {
		c.marker(e.group, e.at, 6.5)
	}
}

// sentence describes a path in figures.
func (p Path) sentence() string {
	var from, to [2]float64
	n := 0
	for _, q := range p.Points {
		if !drawable(q[0], false) || !drawable(q[1], false) {
			continue
		}
		if n == 0 {
			from = q
		}
		n++
		to = q
	}
	if n == 0 {
		return p.Name + ": no finite data."
	}
	return fmt.Sprintf("%s: from (%s, %s) to (%s, %s).", p.Name, Format(from[0]), Format(from[1]), Format(to[0]), Format(to[1]))
}

// figures describes the chart to readers who cannot see it.
func (s Scatter) figures(e extent) string {
	said := []string{"Scatter plot" + against(s.X, false, s.Y, false) + "."}
	for _, b := range s.backdrops() {
		if n := len(b.Points); n > 0 {
			said = append(said, strings.TrimPrefix(b.Name+": ", ": ")+count(n, "point")+".")
		}
	}
	counts := make([]int, s.classes())
	for i := range s.Points {
		counts[s.class(i)]++
	}
	for class, n := range counts {
		if n > 0 {
			said = append(said, strings.TrimPrefix(s.className(class)+": ", ": ")+count(n, "point")+".")
		}
	}
	for _, p := range s.Paths {
		said = append(said, p.sentence())
	}
	for _, v := range s.Vectors {
		said = append(said, v.sentence())
	}
	if e.missing > 0 {
		said = append(said, missingText(e.missing, false)+".")
	}
	return strings.Join(said, " ")
}
