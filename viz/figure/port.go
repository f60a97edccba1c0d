package figure

import (
	"math"
	"slices"
)

const portGap = 12.0 // between edges at one side of a node

// A side is the top or bottom of a node.
type side struct {
	node int
	top  bool
}

// A port is the place where an edge meets a side. Its aim is the x that would suit the edge best.
type port struct {
	edge  int
	aim   float64
	exact bool // the edge is straight if it gets its aim
}

// sortedSides lists the sides with ports in a fixed order.
func (r *router) sortedSides() []side {
	var sides []side
	for i := range r.figure.Nodes {
		for _, top := range [...]bool{true, false} {
			if s := (side{i, top}); len(r.ports[s]) > 0 {
				sides = append(sides, s)
			}
		}
	}
	return sides
}

// sides returns the sides of its nodes at which edge e leaves and arrives, for an edge between
// rows of one column.
func (r *router) sides(e int) (leave, arrive side) {
	up := r.row[r.to[e]] < r.row[r.from[e]]
	return side{r.from[e], up}, side{r.to[e], !up}
}

// flat returns the stretch of a side to which edges can be attached.
func (r *router) flat(s side) (lo, hi float64) {
	n := r.node(s.node)
	top, bottom := shoulder(r.figure.Nodes[s.node].Role, r.tall(s.node))
	in := bottom
	if s.top {
		in = top
	}
	return n.X + in, n.X + n.W - in
}

// attach records the ports of edge e with their aims.
func (r *router) attach(e int) {
	from, to := r.from[e], r.to[e]
	if r.figure.Nodes[from].Backward != r.figure.Nodes[to].Backward {
		r.enters[to] = append(r.enters[to], e)
		return
	}
	if r.row[from] == r.row[to] {
		return
	}
	a, b := r.sides(e)
	alo, ahi := r.flat(a)
	blo, bhi := r.flat(b)
	add := func(s side, lo, hi, towards, straightLo, straightHi float64) {
		mid := r.item[s.node].x
		pt := port{edge: e}
		if l, h := max(lo, straightLo), min(hi, straightHi); l <= h {
			pt.aim, pt.exact = min(max((mid+towards)/2, l), h), true
			if straightLo == straightHi {
				pt.aim = straightLo
			}
		} else {
			pt.aim = min(max(mid+(towards-mid)/5, lo), hi)
		}
		r.ports[s] = append(r.ports[s], pt)
	}
	if runs := r.runs[e]; len(runs) > 0 {
		r.busy[runs[0]]++
		x, y := r.item[runs[0]].x, r.item[runs[len(runs)-1]].x
		add(a, alo, ahi, x, x, x)
		add(b, blo, bhi, y, y, y)
		return
	}
	add(a, alo, ahi, r.item[to].x, blo, bhi)
	add(b, blo, bhi, r.item[from].x, alo, ahi)
}

// spread separates the ports of a side. Edges that share a run share a port. The port whose edge
// can be straight, or else the one nearest to the middle, keeps its place and the others give
// way.
func (r *router) spread(s side) {
	ports := r.ports[s]
	slices.SortStableFunc(ports, func(a, b port) int {
		switch {
		case a.aim < b.aim:
			return -1
		case a.aim > b.aim:
			return 1
		}
		return int(r.beyond(a.edge, s) - r.beyond(b.edge, s))
	})
	lo, hi := r.flat(s)
	x := r.item[s.node].x
	pivot, best := 0, math.Inf(1)
	groups := 1
	for i, pt := range ports {
		d := math.Abs(pt.aim - x)
		if !pt.exact {
			d += 1000
		}
		if d < best {
			pivot, best = i, d
		}
		if i > 0 && !r.shared(s, pt.edge, ports[i-1].edge) {
			groups++
		}
	}
	gap := min(portGap, (hi-lo)/float64(groups))
	// step returns the distance that ports i-1 and i must keep.
	step := func(i int) float64 {
		if r.shared(s, ports[i].edge, ports[i-1].edge) {
			return 0
		}
		return gap
	}
	for i := pivot + 1; i < len(ports); i++ {
		ports[i].aim = max(ports[i].aim, ports[i-1].aim+step(i))
	}
	for i := pivot; i > 0; i-- {
		ports[i-1].aim = min(ports[i-1].aim, ports[i].aim-step(i))
	}
	// Ports that hang over an end of the side push back.
	for i := range ports {
		if i == 0 {
			ports[i].aim = max(ports[i].aim, lo)
		} else {
			ports[i].aim = max(ports[i].aim, ports[i-1].aim+step(i))
		}
	}
	for i := len(ports) - 1; i >= 0; i-- {
		if i == len(ports)-1 {
			ports[i].aim = min(ports[i].aim, hi)
		} else {
			ports[i].aim = min(ports[i].aim, ports[i+1].aim-step(i+1))
		}
	}
	for i := 1; i < len(ports); i++ {
		if step(i) == 0 {
			ports[i].aim = ports[i-1].aim
		}
	}
}

// beyond returns the x that edge e leads to, seen from side s.
func (r *router) beyond(e int, s side) float64 {
	runs := r.runs[e]
	switch leaves := r.from[e] == s.node; {
	case len(runs) > 0 && leaves:
		return r.item[runs[0]].x
	case len(runs) > 0:
		return r.item[runs[len(runs)-1]].x
	case leaves:
		return r.item[r.to[e]].x
	}
	return r.item[r.from[e]].x
}

// shared reports whether two edges leave side s as one line.
func (r *router) shared(s side, d, e int) bool {
	return r.from[d] == s.node && r.from[e] == s.node && len(r.runs[d]) > 0 && len(r.runs[e]) > 0 && r.runs[d][0] == r.runs[e][0]
}

// at returns where edge e meets side s.
func (r *router) at(s side, e int) Point {
	n := r.node(s.node)
	y := n.Y + n.H
	if s.top {
		y = n.Y
	}
	for _, pt := range r.ports[s] {
		if pt.edge == e {
			return Point{pt.aim, y}
		}
	}
	return Point{r.item[s.node].x, y}
}
