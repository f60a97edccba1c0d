package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// addArrows adds the arrows between the signs of the groups.
func (s *sketcher) addArrows(out *figure.Sketch) {
	met := map[figure.Arrow]bool{}
	add := func(a figure.Arrow) {
		key := a
		key.Title, key.Grad = "", false
		if met[key] || a.From == a.To && !a.Fold {
			return
		}
		met[key] = true
		out.Arrows = append(out.Arrows, a)
	}
	for _, g := range s.groups {
		for _, n := range g.members {
			op := s.behind(n)
			for i := range op.NumIn() {
				for _, x := range s.source(op.In(i), op) {
					if h := s.member[x]; h != nil && h != g {
						s.join(add, h, g, x, n, op.In(i), i)
					}
				}
			}
		}
		s.within(add, g)
	}
	for _, g := range s.groups {
		for _, target := range s.updates[g.last()] {
			h := s.member[target]
			switch {
			case h == nil || h == g || h.apart != g.apart:
			case !g.apart:
				add(figure.Arrow{From: g.id, To: h.id, Fold: true, Title: assigned})
			default:
				for _, k := range s.shownParts() {
					if k > 0 {
						add(figure.Arrow{From: s.partID(g, k), To: s.partID(h, k), Fold: true, Title: assigned})
					}
				}
			}
		}
	}
}

const assigned = "assigned at the end of a step"

// within adds the arrows between the signs of one group.
func (s *sketcher) within(add func(figure.Arrow), g *group) {
	grad := s.by[g.last()] != nil
	s.fold(add, g)
	switch {
	case g.mixes && s.named(g.last()):
		for _, k := range s.shownParts() {
			add(figure.Arrow{From: g.id, To: s.partID(g, k), Hidden: k == 0, Grad: grad && k > 0})
		}
	case g.sum:
		for _, k := range s.shownParts() {
			add(figure.Arrow{From: s.partID(g, k), To: g.id, Hidden: k == 0, Grad: grad && k > 0})
		}
	}
}

// join adds the arrows for operand i of n, in group g, which lays out x of group h.
func (s *sketcher) join(add func(figure.Arrow), h, g *group, x, n, operand *graph.Node, i int) {
	a := figure.Arrow{Title: s.view.axes(x), Grad: s.returns(n, x)}
	if trait.LoopBody(n) != nil {
		pin, ok := s.pins[pin{n, i, false}]
		if !ok {
			return // the step leaves it to the operation that uses it
		}
		a.ToPin = pin
	}
	if trait.LoopBody(x) != nil {
		a.FromPin = s.outPin(operand, x)
	}
	sources, targets := []string{h.id}, []string{g.id}
	if h.repeats {
		sources = []string{h.id + "-for-" + g.id}
	}
	apart := h.apart || h.mixes && s.named(h.last())
	if apart {
		sources = nil
		for _, k := range s.shownParts() {
			sources = append(sources, s.partID(h, k))
		}
		a.FromPin = ""
	}
	into := g.apart || g.sum && n == g.members[0]
	if into {
		targets = nil
		for _, k := range s.shownParts() {
			targets = append(targets, s.partID(g, k))
		}
	}
	parallel := apart && into && s.spreadTo(operand, x)
	for f, from := range sources {
		for t, to := range targets {
			if parallel && f != t {
				continue
			}
			b := a
			b.From, b.To, b.Straight = from, to, parallel
			if apart && s.shownParts()[f] == 0 || into && s.shownParts()[t] == 0 {
				if !parallel && apart && into {
					continue
				}
				b.Hidden, b.Grad = true, false
			}
			add(b)
		}
	}
}

// spreadTo reports whether every layout from x to an operand keeps the axis that is drawn apart.
func (s *sketcher) spreadTo(operand, x *graph.Node) bool {
	for operand != x && isLayout(operand) {
		if !s.spread(operand) {
			return false
		}
		operand = operand.In(0)
	}
	return s.spread(operand)
}

// returns reports whether a derivative flows from n back to its operand x.
func (s *sketcher) returns(n, x *graph.Node) bool {
	last := s.member[n].last()
	d := s.by[last]
	if d == nil || s.by[x] == nil {
		return false
	}
	seen := map[*graph.Node]bool{}
	var walk func(b *graph.Node) bool
	walk = func(b *graph.Node) bool {
		if seen[b] {
			return false
		}
		seen[b] = true
		if b == d {
			return true
		}
		for i := range b.NumIn() {
			if y := b.In(i); y == d || s.backward[y] && !s.stopsAt(y) && walk(y) {
				return true
			}
		}
		return false
	}
	return walk(s.by[x])
}

// stopsAt reports whether a derivative is that by what another sign computes.
func (s *sketcher) stopsAt(d *graph.Node) bool {
	return slices.ContainsFunc(s.adjoint[d], func(n *graph.Node) bool { g := s.member[n]; return g != nil && g.last() == n })
}
