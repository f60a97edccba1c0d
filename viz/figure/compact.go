package figure

import (
	"cmp"
	"math"
	"slices"
)

// emptyGap is the width from which an empty strip is closed.
const emptyGap = 40

// compact closes empty strips. If everything to the right of a line can move left as a whole, it
// moves as far as that shortens edges. The steps of settle stop short of this where two wishes
// push each other apart.
func (p *placement) compact() {
	var at []int
	for i := range p.x {
		if p.block[i] == i {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(p.x[a], p.x[b]) })
	right := make([]bool, len(p.x)) // of the line
	for _, i := range at {
		right[i] = true
	}
	for k := 1; k < len(at); k++ {
		right[at[k-1]] = false
		if p.x[at[k]]-p.x[at[k-1]] < emptyGap {
			continue
		}
		room := math.Inf(1)
		for _, e := range p.seps {
			if !right[e.from] && right[e.to] {
				room = min(room, p.x[e.to]-p.x[e.from]-e.room)
			}
		}
		for _, e := range p.pulls {
			a, b := p.block.find(e.a), p.block.find(e.b)
			if right[a] != right[b] {
				room = min(room, math.Abs(p.x[a]-p.x[b]))
			}
		}
		if room < emptyGap || math.IsInf(room, 1) {
			continue
		}
		for _, i := range at[k:] {
			p.x[i] -= room
		}
	}
	p.write()
}

// write stores the places of items and boxes.
func (p *placement) write() {
	s := p.scene
	for i := range s.item {
		s.item[i].x = p.x[p.block.find(i)]
	}
	for b := range s.box {
		s.box[b].left, s.box[b].right = p.x[p.left(b)], p.x[p.right(b)]
	}
}
