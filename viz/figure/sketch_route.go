package figure

import (
	"math"
	"slices"
)

// returned is how far a derivative's arrow is from that of its value.
const returned = 7.0

// side returns where an arrow touches a sign on its right (dir 1) or left, dy below its middle.
func (b *board) side(i int, dir, dy float64) Point {
	p, n := &b.places[i], &b.sketch.Signs[i]
	in := 0.0
	switch {
	case n.Form == Disc:
		r := p.w / 2
		dy = max(-r, min(r, dy))
		in = r - math.Sqrt(float64(r*r)-float64(dy*dy))
	case n.Form == Bare || n.Inner != nil:
	case n.Role == Input:
		r := p.h / 2
		dy = max(-r, min(r, dy))
		in = r - math.Sqrt(float64(r*r)-float64(dy*dy))
	case n.Role == Hyper:
		in = max(0, math.Abs(dy)-p.h/2+octagon)
	case n.Role == Gradient:
		in = hexagon * math.Abs(dy) / (p.h / 2)
	case n.Role == Update:
		in = slant * (p.h/2 + float64(dir*dy)) / p.h
	}
	return Point{p.at.X + dir*(p.w/2-in), p.at.Y + dy}
}

// reach returns how far below the middle of sign i an arrow meets it that comes from, or goes to, a
// height y: tall signs are met straight.
func (b *board) reach(i int, pin string, y float64) float64 {
	p := &b.places[i]
	if pin != "" {
		return b.pin(i, pin)
	}
	if p.h < 2*signHeight || b.sketch.Signs[i].Form != Boxed {
		return 0
	}
	room := p.h/2 - 14
	return max(-room, min(room, y-p.at.Y))
}

// path returns the way of arrow e, by a distance beside it: 0 for the arrow itself.
func (b *board) path(e int, beside float64) course {
	a, from, to := &b.sketch.Arrows[e], b.from[e], b.to[e]
	p, q := &b.places[from], &b.places[to]
	switch {
	case p.carrier >= 0:
		c := course{{p.at.X + beside, p.at.Y + p.h/2}}
		c.line(Point{p.at.X + beside, q.at.Y - b.top(to, beside)})
		return c
	case a.Fold && from == to:
		return b.loop(e)
	case b.arc[e].side != 0:
		return b.around(e, beside)
	}
	first, last := q.at.Y+b.pin(to, a.ToPin), p.at.Y+b.pin(from, a.FromPin)
	if via := b.via[e]; len(via) > 0 {
		first, last = b.stops[via[0]].y, b.stops[via[len(via)-1]].y
	}
	c := course{b.side(from, 1, b.reach(from, a.FromPin, first)+beside)}
	if c[0].X < b.right[p.column] {
		c.line(Point{b.right[p.column], c[0].Y})
	}
	for k, s := range b.via[e] {
		y, column := b.stops[s].y+beside, p.column+1+k
		c.swing(Point{b.left[column], y})
		c.line(Point{b.right[column], y})
	}
	tip := b.side(to, -1, b.reach(to, a.ToPin, last)+beside)
	if x := b.left[q.column]; x+headLength < tip.X {
		c.swing(Point{x, tip.Y})
	}
	c.swing(tip)
	return c
}

// top returns the height of a sign above its middle, at a distance beside it.
func (b *board) top(i int, beside float64) float64 {
	p := &b.places[i]
	if b.sketch.Signs[i].Form != Disc {
		return p.h / 2
	}
	return math.Sqrt(float64(p.h*p.h)/4 - float64(beside*beside))
}

// around returns the way of an arrow above or below what is between its ends.
func (b *board) around(e int, beside float64) course {
	a, from, to := &b.sketch.Arrows[e], b.from[e], b.to[e]
	p, q := &b.places[from], &b.places[to]
	turn := b.arc[e].side // −1: up
	start := b.side(from, 1, b.pin(from, a.FromPin)+beside)
	x := b.right[p.column] + 12 - beside
	y := b.arc[e].y + float64(turn*beside)
	c := course{start}
	if turn < 0 && b.free(to) {
		tip := Point{q.at.X + beside, q.at.Y - b.top(to, beside)}
		c.corners(Point{x, start.Y}, Point{x, y}, Point{tip.X, y}, tip)
		return c
	}
	tip := b.side(to, -1, b.pin(to, a.ToPin)+beside)
	into := b.left[q.column] - 12 + beside
	c.corners(Point{x, start.Y}, Point{x, y}, Point{into, y}, Point{into, tip.Y}, tip)
	return c
}

// free reports whether nothing is above sign i in its column.
func (b *board) free(i int) bool {
	p := &b.places[i]
	return b.columns[p.column][0] == i && p.above < 0
}

// loop returns the way of an arrow from the right side of a sign over it to its left side.
func (b *board) loop(e int) course {
	a, i := &b.sketch.Arrows[e], b.from[e]
	p := &b.places[i]
	rank := 1
	for d, other := range b.sketch.Arrows {
		if d != e && other.Fold && b.from[d] == i && b.to[d] == i && (b.pin(i, other.FromPin) < b.pin(i, a.FromPin) || d < e && other.FromPin == a.FromPin) {
			rank++
		}
	}
	by := foldGap * float64(rank)
	start, tip := b.side(i, 1, b.pin(i, a.FromPin)), b.side(i, -1, b.pin(i, a.ToPin))
	y := p.at.Y - p.h/2 - by
	c := course{start}
	c.corners(Point{start.X + by, start.Y}, Point{start.X + by, y}, Point{tip.X - by, y}, Point{tip.X - by, tip.Y}, tip)
	return c
}

// back returns a course the other way round.
func back(c course) course {
	c = slices.Clone(c)
	slices.Reverse(c)
	return c
}
