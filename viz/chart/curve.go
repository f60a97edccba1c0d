package chart

import "math"

// curve is the drawable part of a series in pixels: a segment for each run of points without a
// gap.
type curve [][]point

// newCurve maps points to pixels. It breaks where a coordinate is not drawable.
func newCurve(n int, at func(i int) (x, y float64), xa, ya axis) curve {
	var c curve
	open := false
	for i := range n {
		x, y := at(i)
		if !drawable(x, xa.log) || !drawable(y, ya.log) {
			open = false
			continue
		}
		if !open {
			c = append(c, nil)
			open = true
		}
		last := &c[len(c)-1]
		*last = append(*last, point{xa.at(x), ya.at(y)})
	}
	return c
}

// ends returns the first and the last point of a curve that has any.
func (c curve) ends() (first, last point) {
	s := c[len(c)-1]
	return c[0][0], s[len(s)-1]
}

// path returns the curve's path data, without points that make no visible difference.
func (c curve) path() raw { return c.thinned(1) }

// faint returns the path data of one of many thin lines, of which each alone says little.
func (c curve) faint() raw { return c.thinned(2) }

// thinned returns the path data with what is seen in columns of a width in pixels.
func (c curve) thinned(width float64) raw {
	thin := make(curve, len(c))
	for i, s := range c {
		thin[i] = straightened(columns(s, width))
	}
	return path(thin...)
}

// columns keeps, of consecutive points in the same column of a width in pixels, the first,
// the lowest, the highest and the last: they cover the same pixels.
func columns(s []point, width float64) []point {
	var out []point
	for i := 0; i < len(s); {
		column := math.Floor(s[i].x / width)
		first, low, high := i, i, i
		for ; i < len(s) && math.Floor(s[i].x/width) == column; i++ {
			if s[i].y < s[low].y {
				low = i
			}
			if s[i].y > s[high].y {
				high = i
			}
		}
		out = append(out, s[first])
		previous := first
		for _, k := range [...]int{min(low, high), max(low, high), i - 1} {
			if k > previous {
				out = append(out, s[k])
				previous = k
			}
		}
	}
	return out
}

// straightened removes points that lie within a tenth of a pixel of the line
// that replaces them (the method of Ramer, Douglas and Peucker). It works in
// runs because the method is quadratic at worst.
func straightened(s []point) []point {
	const run = 512
	if len(s) == 0 {
		return nil
	}
	out := []point{s[0]}
	for len(s) > 1 {
		n := min(run, len(s))
		out = appendStraightened(out, s[:n])
		s = s[n-1:]
	}
	return out
}

// appendStraightened appends what is kept of s after its first point.
func appendStraightened(out, s []point) []point {
	const tolerance = .1
	a, b := s[0], s[len(s)-1]
	worst, at := tolerance, 0
	for i := 1; i < len(s)-1; i++ {
		if d := distance(s[i], a, b); d > worst {
			worst, at = d, i
		}
	}
	if at == 0 {
		return append(out, b)
	}
	return appendStraightened(appendStraightened(out, s[:at+1]), s[at:])
}

// distance returns the distance of p from the line segment a b.
func distance(p, a, b point) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	t := 0.0
	if l := float64(dx*dx) + float64(dy*dy); l > 0 {
		t = min(1, max(0, (float64((p.x-a.x)*dx)+float64((p.y-a.y)*dy))/l))
	}
	return math.Hypot(p.x-a.x-float64(t*dx), p.y-a.y-float64(t*dy))
}

// spread picks about n points that divide the curve's width evenly; offset in
// [0, 1) shifts them, so that the markers of neighbouring curves stay apart.
func (c curve) spread(n int, offset float64) []point {
	first, last := c.ends()
	step := (last.x - first.x) / float64(n)
	next := first.x + step*offset
	var picked []point
	for _, s := range c {
		for _, p := range s {
			if p.x >= next && p.x < last.x {
				picked = append(picked, p)
				next += step * max(1, math.Ceil((p.x-next)/step))
			}
		}
	}
	return picked
}
