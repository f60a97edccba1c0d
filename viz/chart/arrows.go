package chart

import "math"

// Arrow is a direction at a place of a [Heatmap].
type Arrow struct {
	At [2]float64
	By [2]float64 // in the units of the axes; the longest arrow spans the distance between neighbours
}

// drawable reports whether the arrow can be drawn.
func (a Arrow) drawable() bool {
	for _, v := range [...]float64{a.At[0], a.At[1], a.By[0], a.By[1]} {
		if !drawable(v, false) {
			return false
		}
	}
	return true
}

// drawArrows draws arrows with their middles at their places. Their lengths grow with the square
// root of the magnitudes, so that the directions of small ones remain visible. The smallest would
// be blots and are left out.
func drawArrows(c *canvas, p plane, arrows []Arrow) {
	type shown struct {
		at   point
		x, y float64 // the unit vector, in pixels
		long float64
	}
	var all []shown
	longest := 0.0
	for _, a := range arrows {
		if !a.drawable() {
			continue
		}
		// Pixels per unit: the axes may differ.
		x, y := a.By[0]*(p.x.to-p.x.from)/(p.x.hi-p.x.lo), a.By[1]*(p.y.to-p.y.from)/(p.y.hi-p.y.lo)
		l := math.Hypot(x, y)
		if !(l > 0) || math.IsInf(l, 0) {
			continue
		}
		longest = max(longest, l)
		all = append(all, shown{point{p.x.at(a.At[0]), p.y.at(a.At[1])}, x / l, y / l, l})
	}
	if len(all) == 0 {
		return
	}
	room := math.Sqrt((p.right - p.left) * (p.bottom - p.top) / float64(len(arrows)))
	var paths []raw
	for _, a := range all {
		half := .46 * max(4, min(28, room)) * math.Sqrt(a.long/longest)
		dx, dy := float64(half*a.x), float64(half*a.y)
		from, to := point{a.at.x - dx, a.at.y - dy}, point{a.at.x + dx, a.at.y + dy}
		if half >= 2 {
			paths = append(paths, arrowPath(from, to))
		}
	}
	c.arrowPaths(paths)
}

// arrowPath returns a line with a head at its end.
func arrowPath(from, to point) raw { return path([]point{from, to}) + arrowHead(from, to, 4.5) }

// arrowHead returns the head of an arrow, of at most a given length.
func arrowHead(from, to point, most float64) raw {
	dx, dy := to.x-from.x, to.y-from.y
	l := math.Hypot(dx, dy)
	head := min(most, .5*l)
	dx, dy = float64(dx/l*head), float64(dy/l*head)
	across, along := float64(.6*dy), float64(.6*dx)
	return path([]point{{to.x - dx - across, to.y - dy + along}, to, {to.x - dx + across, to.y - dy - along}})
}

// arrowPaths draws arrows so that they stand out from any background.
func (c *canvas) arrowPaths(paths []raw) {
	d := raw("")
	for _, p := range paths {
		d += p
	}
	if d == "" {
		return
	}
	c.printf(`<g fill="none" stroke-linecap="round" stroke-linejoin="round"><path d="%v"%v stroke-width="3" stroke-opacity=".75"/><path d="%v"%v stroke-width="1.2"/></g>`+"\n", d, pageInk.stroke(), d, textInk.stroke())
}
