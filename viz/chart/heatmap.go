package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Heatmap is a scatter plot on a coloured background: a value over the plane, in bands of colour
// between contour lines, with paths, data points and arrows on top.
type Heatmap struct {
	Scatter
	Z string // the value shown over the plane, with its unit
	// Xs and Ys are the coordinates of the grid, ascending; at least two each.
	Xs, Ys []float64
	// Values has a row for each of Ys, with a value for each of Xs. Values in between are
	// interpolated; around one that is not finite, nothing is painted.
	Values [][]float64
	Log    bool // colours by powers; nothing is painted where a value is not positive
	// Range is the range of values that the colours span; values outside have the outermost colour.
	// Charts with the same range have the same colours. If both ends are 0, it is the range of the
	// values.
	Range     [2]float64
	Arrows    []Arrow
	ArrowName string // name of the arrows in the legend
}

// SVG writes the chart as one element. It is an error if the numbers of values and coordinates
// differ or the coordinates do not ascend, and for the reasons of [Scatter.SVG].
func (h Heatmap) SVG(w io.Writer) error {
	if err := h.check(); err != nil {
		return err
	}
	values := h.span()
	if values.empty() {
		return h.blank(w, h.height(h.Height, 0, scatterBody))
	}
	scale := newScale(values, h.Log)
	e := h.measure()
	for _, v := range h.Arrows {
		if !v.drawable() {
			e.missing++
		}
	}
	e.x, e.y = span{h.Xs[0], h.Xs[len(h.Xs)-1]}, span{h.Ys[0], h.Ys[len(h.Ys)-1]}
	h.include(&e)
	keys := h.legend()
	inner := h.width() - 2*margin
	_, legendHeight := keys.place(inner)
	height := h.height(h.Height, legendHeight, scatterBody)
	column := scale.width(h.Z)
	note := h.note(e.missing)
	layOut := func(e extent) plane {
		space := box{margin, h.bodyTop() + legendHeight, margin + inner - column, height - margin}
		if note != "" {
			space.bottom -= lineHeight
		}
		horizontal := func(most int) axis { return tightAxis(e.x, false, most) }
		vertical := func(most int) axis { return tightAxis(e.y, false, most) }
		return newPlane(space, space.right+barGap, horizontal, vertical, h.X, h.Y)
	}
	p := layOut(e)
	if h.EqualAspect {
		if h.Height == 0 {
			proportion := (e.y.hi - e.y.lo) / (e.x.hi - e.x.lo)
			height += float64((p.right-p.left)*max(.4, min(1.1, proportion))) - (p.bottom - p.top)
		}
		for range 3 { // as in Scatter
			p = layOut(equalised(e, p))
		}
	}
	c := h.open(height, h.figures(scale, note))
	keys.draw(c, point{margin, h.bodyTop()}, inner)
	if note != "" {
		c.text(point{margin, height - margin}, start, noteFont, fitted(note, noteFont.size, inner))
	}
	p.draw(c, true)
	f := h.field(p)
	f.fill(c, scale)
	lines := f.lines(scale)
	f.stroke(c, scale, lines)
	scale.bar(c, p, h.Z, column)
	drawArrows(c, p, h.Arrows)
	h.drawHalos(c, p)
	h.drawPoints(c, p)
	h.drawPaths(c, p)
	f.label(c, p, scale, lines)
	return c.close(w)
}

func (h Heatmap) check() error {
	if err := h.Scatter.check(); err != nil {
		return err
	}
	for _, axis := range []struct {
		name   string
		places []float64
	}{{"x", h.Xs}, {"y", h.Ys}} {
		if len(axis.places) < 2 {
			return h.errorf("%s: %d places of values: want two or more", axis.name, len(axis.places))
		}
		for i, v := range axis.places {
			if !drawable(v, false) || i > 0 && v <= axis.places[i-1] {
				return h.errorf("%s: place %d, %v, cannot be drawn or does not ascend", axis.name, i, v)
			}
		}
	}
	if len(h.Values) != len(h.Ys) {
		return h.errorf("%d rows of values for %d places", len(h.Values), len(h.Ys))
	}
	for j, row := range h.Values {
		if len(row) != len(h.Xs) {
			return h.errorf("row %d: %d values for %d places", j, len(row), len(h.Xs))
		}
	}
	if r := h.Range; r != [2]float64{} && !(drawable(r[0], h.Log) && drawable(r[1], h.Log) && r[0] < r[1]) {
		return h.errorf("the range of the colours, %v to %v, cannot be drawn", r[0], r[1])
	}
	return nil
}

// span returns the range that the colours span.
func (h Heatmap) span() span {
	s := emptySpan
	for _, row := range h.Values {
		for _, v := range row {
			if drawable(v, h.Log) {
				s.add(v)
			}
		}
	}
	if !s.empty() && h.Range != [2]float64{} {
		s = span{h.Range[0], h.Range[1]}
	}
	return s
}

// include widens the plot until it contains all points, paths and arrows.
func (h Heatmap) include(e *extent) {
	all := append([][2]float64{}, h.Points...)
	for _, p := range h.Paths {
		all = append(all, p.Points...)
	}
	for _, a := range h.Arrows {
		all = append(all, a.At)
	}
	for _, p := range all {
		if drawable(p[0], false) && drawable(p[1], false) {
			e.x.add(p[0])
			e.y.add(p[1])
		}
	}
}

// drawHalos lightens the background under data points, which would be invisible on the darkest
// colours.
func (h Heatmap) drawHalos(c *canvas, p plane) {
	d := raw("")
	for _, v := range h.Points {
		if drawable(v[0], false) && drawable(v[1], false) {
			d += shape(0, point{p.x.at(v[0]), p.y.at(v[1])}, 4)
		}
	}
	if d != "" {
		c.printf(`<path d="%v"%v fill-opacity=".6"/>`+"\n", d, pageInk.fill())
	}
}

// legend returns the entries of a scatter plot, then that of the arrows.
func (h Heatmap) legend() legend {
	keys := h.keys()
	if len(h.Arrows) > 0 && h.ArrowName != "" {
		keys = append(keys, key{h.ArrowName, func(c *canvas, at point) {
			c.arrowPaths([]raw{arrowPath(at, point{at.x + lineSample, at.y})})
		}, lineSample})
	}
	return keys
}

// note says which values and points are not shown.
func (h Heatmap) note(missing int) string {
	var said []string
	bad := 0
	for _, row := range h.Values {
		for _, v := range row {
			if !drawable(v, h.Log) {
				bad++
			}
		}
	}
	if bad > 0 {
		why := "not finite"
		if h.Log {
			why += " or ≤ 0"
		}
		said = append(said, fmt.Sprintf("bare around %s (%s)", count(bad, "value"), why))
	}
	if missing > 0 {
		said = append(said, missingText(missing, false))
	}
	return strings.Join(said, "; ")
}

// figures describes the chart to readers who cannot see it.
func (h Heatmap) figures(s scale, note string) string {
	said := []string{"Heat map" + against(h.X, false, h.Z, h.Log) + " and " + h.Y + "."}
	if h.X == "" || h.Y == "" {
		said[0] = "Heat map" + against("", false, h.Z, h.Log) + "."
	}
	low, high, x, y := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for j, row := range h.Values {
		for i, v := range row {
			if drawable(v, h.Log) {
				if high = max(high, v); v < low {
					low, x, y = v, h.Xs[i], h.Ys[j]
				}
			}
		}
	}
	said = append(said, fmt.Sprintf("Lowest %s at (%s, %s), highest %s.", Format(low), Format(x), Format(y), Format(high)))
	var names []string
	for _, l := range s.levels {
		names = append(names, l.label)
	}
	if len(names) > 0 {
		said = append(said, "Contours at "+strings.Join(names, ", ")+".")
	}
	if n := len(h.Arrows); n > 0 {
		said = append(said, strings.TrimSpace(count(n, "arrow")+" "+h.ArrowName)+".")
	}
	if n := len(h.Points); n > 0 {
		said = append(said, count(n, "point")+".")
	}
	for _, p := range h.Paths {
		said = append(said, p.sentence())
	}
	if note != "" {
		said = append(said, note+".")
	}
	return strings.Join(said, " ")
}
