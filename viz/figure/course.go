package figure

import "math"

// A course is a path of cubic pieces.
type course []Point

func (c course) last() Point { return c[len(c)-1] }

// line goes straight to p, unless it is there already.
func (c *course) line(p Point) {
	a := c.last()
	if a == p {
		return
	}
	dx, dy := (p.X-a.X)/3, (p.Y-a.Y)/3
	*c = append(*c, Point{a.X + dx, a.Y + dy}, Point{p.X - dx, p.Y - dy}, p)
}

// sway goes to p, leaving and arriving vertically.
func (c *course) sway(p Point) {
	a := c.last()
	if a.X == p.X {
		c.line(p)
		return
	}
	m := (a.Y + p.Y) / 2
	*c = append(*c, Point{a.X, m}, Point{p.X, m}, p)
}

// swing goes to p, leaving and arriving horizontally.
func (c *course) swing(p Point) {
	a := c.last()
	if a.Y == p.Y {
		c.line(p)
		return
	}
	m := (a.X + p.X) / 2
	*c = append(*c, Point{m, a.Y}, Point{m, p.Y}, p)
}

// corners goes horizontally and vertically through the points, with rounded corners.
func (c *course) corners(points ...Point) {
	for i, p := range points {
		if i+1 == len(points) {
			c.line(p)
			return
		}
		a, b := c.last(), points[i+1]
		r := min(bend, (math.Abs(p.X-a.X)+math.Abs(p.Y-a.Y))/2, (math.Abs(b.X-p.X)+math.Abs(b.Y-p.Y))/2)
		before, after := towards(p, a, r), towards(p, b, r)
		c.line(before)
		*c = append(*c, towards(p, a, r/2), towards(p, b, r/2), after)
	}
}

// towards returns the point at distance d from p on the way to q, which is straight above, below
// or beside it.
func towards(p, q Point, d float64) Point {
	switch {
	case q.X > p.X:
		return Point{p.X + d, p.Y}
	case q.X < p.X:
		return Point{p.X - d, p.Y}
	case q.Y > p.Y:
		return Point{p.X, p.Y + d}
	}
	return Point{p.X, p.Y - d}
}
