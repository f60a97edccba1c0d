package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// hold finds the parameters, and derivatives by them, that are written into the box of another node:
// those that both sides have alike, in boxes that both have, and those in boxes that one side alone
// has. Marks are of nodes, so that with them each has a box of its own.
func (d *Difference) hold(first, second *side) {
	if d.a.options.marks != nil {
		return
	}
	dense := d.a.isDense(len(d.a.shown)) || d.b.isDense(len(d.b.shown))
	sides := [2]*side{first, second}
	var found [2]map[*graph.Node]*graph.Node
	for i, s := range sides {
		found[i] = s.view.held(s.boxID, dense)
		s.host, s.inside = map[*graph.Node]*graph.Node{}, map[*graph.Node][]*graph.Node{}
	}
	status := d.statuses()
	alike := func(i int, n *graph.Node) bool {
		s, peer := sides[i], sides[1-i]
		host, x := found[i][n], s.other[n]
		y := s.other[host]
		if !peer.visible[x] || !peer.visible[y] {
			return !peer.visible[x] && !peer.visible[y]
		}
		return found[1-i][x] == y && s.written(n) == peer.written(x) && (status[n] == figure.Shared || status[n] == status[host])
	}
	for _, derivatives := range []bool{false, true} { // which go with their parameters
		for i, s := range sides {
			for n, host := range found[i] {
				a, is := s.of[n]
				if is != derivatives || is && s.host[s.drawn(a.Of)] == nil || !alike(i, n) {
					continue
				}
				if x := s.other[n]; sides[1-i].visible[x] && !alike(1-i, x) {
					continue
				}
				s.host[n] = host
			}
		}
	}
	for _, s := range sides {
		for _, n := range s.shown {
			if host := s.host[n]; host != nil {
				s.inside[host] = append(s.inside[host], n)
			}
		}
	}
}

// written is what a box would say of a parameter inside.
func (s *side) written(n *graph.Node) string {
	if a, ok := s.of[n]; ok {
		n = a.Of
	}
	return s.plain(n) + " " + sizes(n)
}

// box returns the node whose box shows a node: itself, or the one that holds it.
func (s *side) box(n *graph.Node) *graph.Node {
	if host := s.host[n]; host != nil {
		return host
	}
	return n
}

// boxes returns the nodes that have boxes of their own.
func (s *side) boxes() []*graph.Node {
	return slices.DeleteFunc(slices.Clone(s.shown), func(n *graph.Node) bool { return s.host[n] != nil })
}
