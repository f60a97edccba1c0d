package figure

import (
	"math"
	"slices"
)

// straighten gives arrows that pass above or below all signs of the columns between their ends one
// height.
func (b *board) straighten() {
	for _, down := range []bool{true, false} {
		sign := 1.0
		if !down {
			sign = -1
		}
		clear := map[int]bool{} // stops with nothing but such arrows outside them
		inside := map[int]int{} // the stop next to such a stop, if it is an arrow too
		for _, column := range b.columns {
			column = slices.Clone(column)
			if down {
				slices.Reverse(column)
			}
			for i, k := range column {
				if b.stops[k].sign >= 0 {
					break
				}
				clear[k] = true
				if i > 0 {
					inside[column[i-1]] = k
				}
			}
		}
		for _, via := range b.via { // one that is not clear everywhere is in the way of others, as signs are
			if slices.ContainsFunc(via, func(k int) bool { return !clear[k] }) {
				for _, k := range via {
					delete(clear, k)
				}
			}
		}
		done := map[int]bool{}
		for range b.via { // the inner ones first, which push the outer ones out
			progress := false
			for _, via := range b.via {
				if len(via) == 0 || done[via[0]] || slices.ContainsFunc(via, func(k int) bool { return !clear[k] }) {
					continue
				}
				ready := !slices.ContainsFunc(via, func(k int) bool { in, ok := inside[k]; return ok && clear[in] && !done[in] })
				if !ready {
					continue
				}
				y := sign * b.stops[via[0]].y
				for _, k := range via {
					y = max(y, sign*b.stops[k].y)
					if in, ok := inside[k]; ok && done[in] {
						y = max(y, sign*b.stops[in].y+b.stops[in].room.down+passGap+b.stops[k].room.up)
					}
				}
				for _, k := range via {
					b.stops[k].y, done[k] = sign*y, true
				}
				progress = true
			}
			if !progress {
				break
			}
		}
	}
}

// spread finds the left and right border of each column, and puts the signs there.
func (b *board) spread() {
	x := 0.0
	for c, column := range b.columns {
		half, steep := 0.0, 0.0
		for _, k := range column {
			half = max(half, b.stops[k].room.half)
		}
		for e, a := range b.sketch.Arrows { // arrows that climb need room
			if last := b.places[b.from[e]].column; !a.Hidden && !a.Fold && last < c && c <= b.places[b.to[e]].column {
				y := b.stops[b.from[e]].y
				z := b.stops[b.to[e]].y
				for _, k := range b.via[e] {
					if b.places[b.from[e]].column+1+slices.Index(b.via[e], k) == c-1 {
						y = b.stops[k].y
					}
					if b.places[b.from[e]].column+1+slices.Index(b.via[e], k) == c {
						z = b.stops[k].y
					}
				}
				steep = max(steep, max(y-z, z-y))
			}
		}
		if c > 0 {
			x += 34 + min(46, steep*0.16)
		}
		b.left, b.right = append(b.left, x), append(b.right, x+2*half)
		for _, k := range column {
			if i := b.stops[k].sign; i >= 0 {
				b.places[i].at = Point{x + half, b.stops[k].y}
			}
		}
		x += 2 * half
	}
	for i := range b.places {
		p := &b.places[i]
		if p.carrier < 0 {
			continue
		}
		u := &b.places[p.carrier]
		p.at = Point{u.at.X, u.at.Y - u.h/2 - attachGap - p.room.down}
	}
	b.width = x
}

// addArches finds the height of the arrows that go around what is between their ends: the short
// ones first, so that the others go around them.
func (b *board) addArches() {
	top, bottom := make([]float64, len(b.columns)), make([]float64, len(b.columns))
	for c, column := range b.columns {
		for i, k := range column {
			s := &b.stops[k]
			if i == 0 || s.y-s.room.up < top[c] {
				top[c] = s.y - s.room.up
			}
			if i == 0 || s.y+s.room.down > bottom[c] {
				bottom[c] = s.y + s.room.down
			}
		}
	}
	var arches []int
	for e := range b.arc {
		if b.arc[e].side != 0 {
			arches = append(arches, e)
		}
	}
	span := func(e int) (first, last int) {
		f, t := b.places[b.from[e]].column, b.places[b.to[e]].column
		return min(f, t), max(f, t)
	}
	slices.SortStableFunc(arches, func(d, e int) int {
		f, l := span(d)
		g, m := span(e)
		return (l - f) - (m - g)
	})
	for _, e := range arches {
		first, last := span(e)
		if b.arc[e].side < 0 {
			y := b.places[b.from[e]].at.Y
			for c := first + 1; c <= last; c++ {
				y = min(y, top[c])
			}
			b.arc[e].y = y - foldGap
			for c := first + 1; c <= last; c++ {
				top[c] = min(top[c], b.arc[e].y)
			}
			continue
		}
		y := b.places[b.from[e]].at.Y
		for c := first; c <= last; c++ {
			y = max(y, bottom[c])
		}
		b.arc[e].y = y + foldGap
		for c := first; c <= last; c++ {
			bottom[c] = b.arc[e].y
		}
	}
}

// frame moves everything so that the drawing begins at 0, and measures it.
func (b *board) frame() {
	if len(b.sketch.Levels) > 1 {
		for _, s := range b.sketch.Levels {
			b.label = max(b.label, TextWidth(line(s, signLimit), smallSize)+22)
		}
	}
	low, high, leftmost, rightmost := math.Inf(1), math.Inf(-1), 0.0, b.width
	if len(b.stops) == 0 {
		low, high = 0, 0
	}
	for i := range b.stops {
		if s := &b.stops[i]; s.sign < 0 || b.places[s.sign].carrier < 0 {
			low, high = min(low, s.y-s.room.up), max(high, s.y+s.room.down)
		}
	}
	for e := range b.arc {
		switch b.arc[e].side {
		case -1:
			low = min(low, b.arc[e].y-foldGap)
		case 1:
			high = max(high, b.arc[e].y+foldGap)
			leftmost, rightmost = min(leftmost, -2*foldGap), max(rightmost, b.width+2*foldGap)
		}
	}
	by := Point{b.label - leftmost, -low}
	for i := range b.places {
		b.places[i].at.X += by.X
		b.places[i].at.Y += by.Y
	}
	for i := range b.stops {
		b.stops[i].y += by.Y
	}
	for c := range b.left {
		b.left[c], b.right[c] = b.left[c]+by.X, b.right[c]+by.X
	}
	for e := range b.arc {
		b.arc[e].y += by.Y
	}
	b.width, b.height = rightmost-leftmost+b.label, high-low
}
