package figure

import (
	"math"
	"slices"
)

// A turn is a piece of an edge in the gap below row gap.
type turn struct {
	from, to Point
	gap      int
}

// A labeller places labels so that they cover no node (they stay between rows or in the gutter),
// no title and, if there is room, no other label or edge.
type labeller struct {
	plates [][]Rect  // titles, by the row below them
	placed [][]Rect  // labels, by gap; those of the gutter last
	turns  [][]owned // pieces of all edges, by gap
	edge   int       // whose label is being placed
}

// owned is a turn of an edge.
type owned struct {
	turn
	edge int
}

// stops are the positions on an edge that are tried in order, the middle first.
var stops = [...]float64{0.5, 0.44, 0.56, 0.38, 0.62, 0.27, 0.73, 0.2, 0.8}

// crowd is the number of edges in a gap above which labels may cover other edges.
const crowd = 40

// onOthers reports whether r would interrupt another edge.
func (l *labeller) onOthers(gap int, r Rect) bool {
	if len(l.turns[gap]) > crowd {
		return false
	}
	return slices.ContainsFunc(l.turns[gap], func(t owned) bool {
		return t.edge != l.edge && passing([]turn{t.turn}, r) > 0
	})
}

// place returns the plate of a label on one of the turns.
func (l *labeller) place(g *grid, label string, turns []turn) Rect {
	if label == "" {
		return Rect{}
	}
	var fallback Rect
	at, worst := -1, 3
	for _, t := range turns[:min(len(turns), 8)] {
		ceiling, floor := g.bottom[t.gap]+1, g.top[t.gap+1]-1
		for _, s := range stops {
			r := plateAt(label, onSway(t.from, t.to, s))
			if r.Y < ceiling || r.Y+r.H > floor {
				continue
			}
			if overlapsAny(r, l.plates[t.gap+1]) {
				continue
			}
			bad := 0
			if overlapsAny(r, l.placed[t.gap]) {
				bad = 2
			} else if l.onOthers(t.gap, r) {
				bad = 1
			}
			if bad < worst {
				fallback, at, worst = r, t.gap, bad
			}
			if bad == 0 {
				l.placed[t.gap] = append(l.placed[t.gap], r)
				return r
			}
		}
	}
	if at < 0 { // titles everywhere: beside the row there are never nodes
		t := turns[0]
		fallback, at = plateAt(label, Point{t.from.X, g.bottom[t.gap] + 1 + labelHeight/2}), t.gap
	}
	l.placed[at] = append(l.placed[at], fallback)
	return fallback
}

// swing returns the plate of a label on a piece in the gutter.
func (l *labeller) swing(gutter int, label string, from, to Point) Rect {
	if label == "" {
		return Rect{}
	}
	var first Rect
	for i, s := range stops {
		t := onSway(Point{from.Y, from.X}, Point{to.Y, to.X}, s)
		r := plateAt(label, Point{(from.X + to.X) / 2, t.X})
		if i == 0 {
			first = r
		}
		if !overlapsAny(r, l.placed[gutter]) {
			first = r
			break
		}
	}
	l.placed[gutter] = append(l.placed[gutter], first)
	return first
}

// titles puts the title of each module at the left of its box, or at the right or in the middle
// if fewer edges pass there.
func (r *router) titles(turns [][]turn) {
	g := r.grid
	byGap := make([][]turn, g.rows)
	for _, ts := range turns {
		for _, t := range ts {
			byGap[t.gap] = append(byGap[t.gap], t)
		}
	}
	r.labels.plates = make([][]Rect, g.rows)
	for b := backwardColumn + 1; b < len(g.box); b++ {
		k := &g.box[b]
		if !k.seen.has(r.panel) {
			continue
		}
		plate := g.titlePlate(g.boxRect[b], k.title[r.panel])
		if k.first > 0 && plate != (Rect{}) {
			slack := g.boxRect[b].W - plate.W - 2*textGap
			least, best := math.MaxInt, plate
			for _, shift := range [...]float64{0, slack, slack / 2} {
				at := plate
				at.X = math.Round(at.X + max(0, shift))
				if n := passing(byGap[k.first-1], at); n < least {
					least, best = n, at
				}
			}
			plate = best
		}
		r.labels.plates[k.first] = append(r.labels.plates[k.first], plate)
		r.out.Modules = append(r.out.Modules, ModuleBox{
			Path: k.path, Title: k.title[r.panel], Backward: k.backward,
			Own:   g.figure.comparing() && k.seen == 1<<r.panel,
			Plate: plate, Rect: g.boxRect[b], Copies: k.copies,
		})
	}
}

// passing counts the turns that pass through r.
func passing(turns []turn, r Rect) int {
	n := 0
	for _, t := range turns {
		for i := range 25 {
			if p := onSway(t.from, t.to, float64(i)/24); grow(r, 3).Overlaps(Rect{p.X, p.Y, 0.1, 0.1}) {
				n++
				break
			}
		}
	}
	return n
}

// onSway returns the point at t in [0, 1] of the curve that course.sway draws.
func onSway(a, b Point, t float64) Point {
	u := 1 - t
	// With controls (a.X, m) and (b.X, m), m in the middle:
	wx := t * t * (3 - 2*t)
	wy := 3*u*u*t/2 + 3*u*t*t/2 + t*t*t
	return Point{a.X + float64((b.X-a.X)*wx), a.Y + float64((b.Y-a.Y)*wy)}
}

// plateAt returns the plate of a label centred on p, zero for no label.
func plateAt(label string, p Point) Rect {
	if label == "" {
		return Rect{}
	}
	w := labelWidth(label)
	return Rect{p.X - w/2, p.Y - labelHeight/2, w, labelHeight}
}

func overlapsAny(r Rect, s []Rect) bool {
	for _, t := range s {
		if r.Overlaps(t) {
			return true
		}
	}
	return false
}
