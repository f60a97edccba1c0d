package figure

import (
	"context"
	"math"
	"slices"
)

const (
	runHalf   = 5.0  // half of the width of a run
	gutterGap = 72.0 // between the columns
)

// A placement finds x coordinates: variables (the items, then two borders for each box) under
// separation constraints that follow from the order of the rows. Variables that must be aligned
// are one block.
type placement struct {
	scene  *scene
	block  partition
	pulls  []pull
	seps   []separation // sorted so that x[from] is final before it is used
	fixed  [][]int      // successors in the block graph, while blocks are formed
	x      []float64
	lo, hi []float64
	want   []float64
	count  []float64
}

// A separation requires x[to] ≥ x[from] + room.
type separation struct {
	from, to int
	room     float64
}

// A pull draws two variables together.
type pull struct{ a, b int }

func (s *scene) newPlacement() *placement {
	p := &placement{scene: s, block: newPartition(len(s.item) + 2*len(s.box))}
	p.separate()
	p.sequence()
	for _, l := range s.links {
		if l.a != l.b {
			p.pulls = append(p.pulls, pull{l.a, l.b})
		}
	}
	n := len(p.block)
	p.x, p.lo, p.hi, p.want, p.count = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range s.item {
		p.x[i] = s.item[i].x
	}
	return p
}

func (p *placement) left(b int) int  { return len(p.scene.item) + 2*b }
func (p *placement) right(b int) int { return len(p.scene.item) + 2*b + 1 }

// separate collects the constraints, panel by panel: things that are never seen together may
// overlap.
func (p *placement) separate() {
	s := p.scene
	room := map[arc]float64{}
	need := func(from, to int, r float64) {
		if old, ok := room[arc{from, to}]; !ok || r > old {
			room[arc{from, to}] = r
		}
	}
	var visible []int
	for panel := range s.figure.panels() {
		for r := range s.inRow {
			visible = visible[:0]
			for _, i := range s.inRow[r] {
				if s.item[i].seen.has(panel) {
					visible = append(visible, i)
				}
			}
			for k, i := range visible {
				p.between(visible, k, need)
				it := &s.item[i]
				if k+1 == len(visible) {
					p.close(it.inside, 0, i, it.half, need)
				}
			}
		}
	}
	need(p.right(forwardColumn), p.left(backwardColumn), 0)
	for b := backwardColumn + 1; b < len(s.box); b++ {
		need(p.left(b), p.right(b), s.titleRoom(b))
	}
	for a, r := range room {
		p.seps = append(p.seps, separation{a.from, a.to, r})
	}
	slices.SortFunc(p.seps, func(a, b separation) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to
	})
}

// between separates visible[k] from its predecessor in the row: it closes the boxes that end
// there and opens those that begin.
func (p *placement) between(visible []int, k int, need func(from, to int, r float64)) {
	s := p.scene
	it := &s.item[visible[k]]
	var last int
	var half, gap float64
	open := 0
	if k > 0 {
		before := &s.item[visible[k-1]]
		open = len(common(before.inside, it.inside))
		last, half = visible[k-1], before.half
		switch {
		case open < len(before.inside):
			last, half = p.close(before.inside, open, last, half, need)
			gap = s.boxGap
		case open < len(it.inside):
			gap = s.boxGap
		case before.node < 0 || it.node < 0:
			gap = s.runGap
		default:
			gap = s.nodeGap
			a, b := before.node, it.node
			gap = max(gap, s.level[arc{a, b}], s.level[arc{b, a}])
		}
	}
	for d, b := range it.inside[open:] {
		if k > 0 || d > 0 {
			need(last, p.left(b), half+gap)
		}
		last, half, gap = p.left(b), 0, p.pad(b)
	}
	need(last, visible[k], half+gap+it.half)
}

// close separates the right borders of the boxes inside[open:] from the variable last, which
// extends half to the right; it returns the outermost border.
func (p *placement) close(inside []int, open, last int, half float64, need func(from, to int, r float64)) (int, float64) {
	for _, b := range slices.Backward(inside[open:]) {
		need(last, p.right(b), half+p.pad(b))
		last, half = p.right(b), 0
	}
	return last, half
}

// pad returns the room between a box and its contents; columns have no border.
func (p *placement) pad(b int) float64 {
	if p.scene.box[b].parent < 0 {
		return 0
	}
	return p.scene.boxPad
}

// sequence rewrites the constraints in terms of blocks and sorts them so that
// one pass in order meets every constraint on a block before those from it.
func (p *placement) sequence() {
	n := len(p.block)
	start := make([]int, n+1)
	missing := make([]int, n)
	for i := range p.seps {
		e := &p.seps[i]
		e.from, e.to = p.block.find(e.from), p.block.find(e.to)
		start[e.from+1]++
		missing[e.to]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	byFrom := make([]separation, len(p.seps))
	fill := slices.Clone(start)
	for _, e := range p.seps {
		byFrom[fill[e.from]] = e
		fill[e.from]++
	}
	ready := make([]int, 0, n)
	for i := range n {
		if missing[i] == 0 {
			ready = append(ready, i)
		}
	}
	p.seps = p.seps[:0]
	for i := 0; i < len(ready); i++ {
		k := ready[i]
		for _, e := range byFrom[start[k]:start[k+1]] {
			p.seps = append(p.seps, e)
			if missing[e.to]--; missing[e.to] == 0 {
				ready = append(ready, e.to)
			}
		}
	}
}

// settle moves every block towards the mean of its neighbours, many times. The wishes are made
// feasible twice, once by pushing right and once by pushing left; the mean of the two is feasible
// too and favours neither side.
func (p *placement) settle(ctx context.Context, steps int) error {
	s := p.scene
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.wish()
		if step%3 == 2 {
			p.wishBoxes(step / 3)
		}
		for b := range s.box { // borders pull inwards
			p.want[p.left(b)], p.want[p.right(b)] = math.Inf(1), math.Inf(-1)
		}
		for i := range s.item {
			inside := s.item[i].inside
			for d, b := range inside {
				w, reach := p.want[p.block.find(i)], s.item[i].half+float64(s.boxPad*float64(len(inside)-max(d, 1)))
				l, r := p.left(b), p.right(b)
				p.want[l] = min(p.want[l], w-reach)
				p.want[r] = max(p.want[r], w+reach)
			}
		}
		copy(p.lo, p.want)
		for _, e := range p.seps {
			p.lo[e.to] = max(p.lo[e.to], p.lo[e.from]+e.room)
		}
		copy(p.hi, p.want)
		for _, e := range slices.Backward(p.seps) {
			p.hi[e.from] = min(p.hi[e.from], p.hi[e.to]-e.room)
		}
		moved := 0.0
		for i := range p.x {
			if p.block[i] != i {
				continue
			}
			x := (p.lo[i] + p.hi[i]) / 2
			moved = max(moved, math.Abs(x-p.x[i]))
			p.x[i] = x
		}
		if moved < 0.02 {
			break
		}
	}
	p.write()
	return nil
}

// wish sets want to the mean of a block's position and those of its neighbours.
func (p *placement) wish() {
	clear(p.want)
	clear(p.count)
	for _, e := range p.pulls {
		a, b := p.block.find(e.a), p.block.find(e.b)
		if a == b {
			continue
		}
		p.want[a] += p.x[b]
		p.want[b] += p.x[a]
		p.count[a]++
		p.count[b]++
	}
	for i := range p.want {
		if p.count[i] > 0 {
			p.want[i] = (p.x[i] + p.want[i]/p.count[i]) / 2
		} else {
			p.want[i] = p.x[i]
		}
	}
}

// wishBoxes moves the contents of a box together, by the mean pull on the box; node by node, a
// chain in a box would take long.
func (p *placement) wishBoxes(step int) {
	s := p.scene
	deepest := 0
	for b := range s.box {
		deepest = max(deepest, s.box[b].depth)
	}
	if deepest == 0 {
		return
	}
	depth := 1 + step%deepest
	at := func(i int) int {
		if in := s.item[i].inside; depth < len(in) {
			return in[depth]
		}
		return -1
	}
	sum, count := make([]float64, len(s.box)), make([]float64, len(s.box))
	for _, e := range p.pulls {
		a, b := at(e.a), at(e.b)
		if a == b {
			continue
		}
		d := p.x[p.block.find(e.b)] - p.x[p.block.find(e.a)]
		if a >= 0 {
			sum[a] += d
			count[a]++
		}
		if b >= 0 {
			sum[b] -= d
			count[b]++
		}
	}
	for i := range s.item {
		k := p.block.find(i)
		if b := at(i); b >= 0 && count[b] > 0 {
			p.want[k] = p.x[k] + sum[b]/count[b]/2
		}
	}
}
