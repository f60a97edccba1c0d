package figure

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// A place is where a sign is drawn, with the layout of what is inside.
type place struct {
	at       Point // the centre
	w, h     float64
	room     extent
	column   int
	above    int // the sign above that it carries, or −1
	carrier  int // the sign that carries it, or −1
	arcs     int // arrows that lead back from it to itself
	inner    *board
	innerTop Point // from the centre to the origin of inner
}

// A board is the layout of a sketch.
type board struct {
	sketch  *Sketch
	places  []place
	columns [][]int // of stops, from the top
	stops   []stop
	levels  []float64 // the height of each level
	left    []float64 // the left border of each column
	right   []float64
	via     [][]int // the stops that an arrow passes, by arrow
	arc     []arch  // of arrows that go around, by arrow
	from    []int
	to      []int
	width   float64
	height  float64
	label   float64 // room for the names of levels at the left
}

// A stop is a sign in a column, or an arrow that passes it.
type stop struct {
	sign int // −1 for an arrow
	room extent
	y    float64
	want float64
	low  bool // an arrow that passes below the signs of its columns
	e    int  // the arrow
}

// An arch is the way of an arrow around what is between its ends.
type arch struct {
	side float64 // −1: above; 1: below; 0: none
	y    float64
}

// A strand joins two stops; dy is how far below the middle of each it ends.
type strand struct {
	a, b     int
	da, db   float64
	strength float64
}

// layout lays s out. Where an arrow would have to go far to get around everything, it is laid out
// once more with that arrow between the signs.
func (s *Sketch) layout(ctx context.Context) (*board, error) {
	b, err := s.layoutWith(ctx, nil)
	if err != nil {
		return nil, err
	}
	far := map[int]bool{}
	for e := range b.arc {
		far[e] = b.arc[e].side < 0 && b.places[b.from[e]].at.Y-b.arc[e].y > farAround
	}
	if !slices.Contains(slices.Collect(maps.Values(far)), true) {
		return b, nil
	}
	return s.layoutWith(ctx, far)
}

// layoutWith lays s out with some arrows between the signs, even if they could go around.
func (s *Sketch) layoutWith(ctx context.Context, between map[int]bool) (*board, error) {
	b := &board{sketch: s, places: make([]place, len(s.Signs)), via: make([][]int, len(s.Arrows)), arc: make([]arch, len(s.Arrows))}
	index := s.index()
	for _, a := range s.Arrows {
		b.from, b.to = append(b.from, index[a.From]), append(b.to, index[a.To])
	}
	if err := b.measure(ctx); err != nil {
		return nil, err
	}
	b.attach()
	b.assign()
	trunk := b.trunk()
	b.addStops(trunk, between)
	if err := b.order(ctx, trunk); err != nil {
		return nil, err
	}
	b.straighten()
	b.spread()
	b.addArches()
	b.frame()
	return b, nil
}

// measure finds the size of every sign, from the inside out.
func (b *board) measure(ctx context.Context) error {
	for i := range b.sketch.Signs {
		n, p := &b.sketch.Signs[i], &b.places[i]
		p.above, p.carrier = -1, -1
		p.w, p.h = n.boxSize()
		for e, a := range b.sketch.Arrows {
			if a.Fold && b.from[e] == i && b.to[e] == i {
				p.arcs++
			}
		}
		if n.Inner != nil {
			inner, err := n.Inner.layout(ctx)
			if err != nil {
				return err
			}
			p.inner = inner
			p.w = max(inner.width+2*cellPad, TextWidth(line(n.Sub, subLimit), cellSize)*boldFactor+32)
			p.h = inner.height + cellTitle + cellPad
			p.innerTop = Point{-inner.width / 2, -p.h/2 + cellTitle}
		}
		p.room = n.extentOf(p.w, p.h)
		if p.arcs > 0 {
			by := foldGap * float64(p.arcs+1)
			p.room.half, p.room.up = p.room.half+by, p.room.up+by
		}
	}
	return nil
}

// attach puts signs above those that they feed.
func (b *board) attach() {
	users := make([][]int, len(b.places))
	fed := make([]bool, len(b.places))
	for e := range b.sketch.Arrows {
		users[b.from[e]] = append(users[b.from[e]], b.to[e])
		fed[b.to[e]] = true
	}
	for i := range b.sketch.Signs {
		if !b.sketch.Signs[i].Above || fed[i] || len(users[i]) != 1 {
			continue
		}
		p, u := &b.places[i], &b.places[users[i][0]]
		if u.above >= 0 || u.inner != nil || b.sketch.Signs[users[i][0]].Side != 0 {
			continue
		}
		u.above, p.carrier = i, users[i][0]
		if text := p.room.down - p.h/2; text > 0 { // the text is above it, out of the arrow's way
			p.room.up, p.room.down = p.room.up+text, p.h/2
		}
		u.room.up += attachGap + p.room.up + p.room.down
		u.room.half = max(u.room.half, p.room.half)
	}
}

// pin returns how far below the middle of a sign an arrow to a sign inside ends.
func (b *board) pin(sign int, pin string) float64 {
	p := &b.places[sign]
	if pin == "" || p.inner == nil {
		return 0
	}
	return p.innerTop.Y + p.inner.places[b.sketch.Signs[sign].Inner.index()[pin]].at.Y
}

// assign gives each sign its column: the one after the last of those that feed it. What nothing on
// the longest way feeds stands as late as it can.
func (b *board) assign() {
	n := len(b.places)
	into := make([][]int, n)
	out := make([][]int, n)
	for e, a := range b.sketch.Arrows {
		if !a.Fold && b.places[b.from[e]].carrier < 0 {
			into[b.to[e]] = append(into[b.to[e]], b.from[e])
			out[b.from[e]] = append(out[b.from[e]], b.to[e])
		}
	}
	left := make([]int, n)
	var ready []int
	for i := range into {
		if left[i] = len(into[i]); left[i] == 0 {
			ready = append(ready, i)
		}
	}
	last := 0
	for k := 0; k < len(ready); k++ {
		i := ready[k]
		for _, from := range into[i] {
			b.places[i].column = max(b.places[i].column, b.places[from].column+1)
		}
		last = max(last, b.places[i].column)
		for _, to := range out[i] {
			if left[to]--; left[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	depends := b.trunk() // on a sign of the trunk
	for _, i := range ready {
		for _, from := range into[i] {
			depends[i] = depends[i] || depends[from]
		}
	}
	for _, i := range slices.Backward(ready) {
		if len(into[i]) > 0 && depends[i] || len(out[i]) == 0 || b.sketch.Signs[i].Side < 0 {
			continue
		}
		first := last
		for _, to := range out[i] {
			first = min(first, b.places[to].column-1)
		}
		b.places[i].column = max(0, first)
	}
	for i := range b.places {
		if b.sketch.Signs[i].Side > 0 {
			b.places[i].column = last
		}
	}
	for i := range b.places {
		if c := b.places[i].carrier; c >= 0 {
			b.places[i].column = b.places[c].column
		}
	}
}

// trunk reports which signs are on the longest way through the sketch.
func (b *board) trunk() []bool {
	n := len(b.places)
	on := make([]bool, n)
	best, back := make([]int, n), make([]int, n)
	order := make([]int, 0, n)
	for i := range n {
		back[i] = -1
		if b.places[i].carrier < 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return b.places[i].column - b.places[j].column })
	for _, i := range order {
		for e, a := range b.sketch.Arrows {
			if f := b.from[e]; !a.Fold && !a.Hidden && b.to[e] == i && b.places[f].carrier < 0 && best[f]+1 > best[i] {
				best[i], back[i] = best[f]+1, f
			}
		}
	}
	end := -1
	for _, i := range order {
		if end < 0 || best[i] > best[end] {
			end = i
		}
	}
	for steps := 0; end >= 0 && steps <= n; end, steps = back[end], steps+1 {
		on[end] = true
	}
	return on
}

// addStops puts signs into their columns, and arrows into the columns that they pass. An arrow
// that leaves the trunk and comes back to it goes around instead.
func (b *board) addStops(trunk []bool, between map[int]bool) {
	count := 1
	for i := range b.places {
		count = max(count, b.places[i].column+1)
	}
	b.columns = make([][]int, count)
	for i := range b.places {
		p := &b.places[i]
		b.stops = append(b.stops, stop{sign: i, room: p.room})
		if p.carrier < 0 {
			b.columns[p.column] = append(b.columns[p.column], i)
		}
	}
	for e, a := range b.sketch.Arrows {
		from, to := &b.places[b.from[e]], &b.places[b.to[e]]
		switch {
		case a.Hidden || from.carrier >= 0:
		case a.Fold && b.from[e] != b.to[e]:
			b.arc[e].side = 1
		case a.Fold:
		case trunk[b.from[e]] && trunk[b.to[e]] && to.column > from.column+1 && len(b.sketch.Levels) < 2 && !a.Straight && !between[e] && a.FromPin == "" && a.ToPin == "":
			b.arc[e].side = -1
		default:
			low := false
			for c := from.column + 1; c < to.column; c++ {
				low = low || a.Straight && slices.ContainsFunc(b.columns[c], func(k int) bool { return k < len(b.places) && b.sketch.Signs[k].Ports > 1 })
			}
			for c := from.column + 1; c < to.column; c++ {
				b.via[e] = append(b.via[e], len(b.stops))
				b.columns[c] = append(b.columns[c], len(b.stops))
				b.stops = append(b.stops, stop{sign: -1, room: extent{4, 5, 5}, low: low, e: e})
			}
		}
	}
	for c := range b.columns {
		key := func(k int) int { // an arrow begins where its source is
			if b.stops[k].sign >= 0 {
				return b.stops[k].sign
			}
			return b.from[b.stops[k].e]
		}
		slices.SortStableFunc(b.columns[c], func(i, j int) int { return cmp.Compare(key(i), key(j)) })
		b.keepOrder(b.columns[c])
	}
}
