package figure

import (
	"context"
	"math"
)

// A grid is a scene with all coordinates fixed; it routes edges panel by panel.
type grid struct {
	*scene
	top, bottom []float64 // of the rows, including rings
	boxRect     []Rect
}

// newGrid stacks the rows, with room where boxes begin and end.
func (s *scene) newGrid() *grid {
	g := &grid{scene: s, top: make([]float64, s.rows), bottom: make([]float64, s.rows), boxRect: make([]Rect, len(s.box))}
	// Nested boxes may begin or end in one row: the deepest nesting counts.
	begins, ends := make([]int, len(s.box)), make([]int, len(s.box))
	rowBegins, rowEnds := make([]int, s.rows), make([]int, s.rows)
	for b := len(s.box) - 1; b > backwardColumn; b-- {
		k := &s.box[b]
		begins[b]++
		ends[b]++
		rowBegins[k.first] = max(rowBegins[k.first], begins[b])
		rowEnds[k.last] = max(rowEnds[k.last], ends[b])
		if up := k.parent; s.box[up].first == k.first {
			begins[up] = max(begins[up], begins[b])
		}
		if up := k.parent; s.box[up].last == k.last {
			ends[up] = max(ends[up], ends[b])
		}
	}
	height := make([]float64, s.rows)
	for i := range s.figure.Nodes {
		height[s.row[i]] = max(height[s.row[i]], s.height(&s.figure.Nodes[i]))
	}
	by := s.linksByRow()
	y := 0.0
	for r := range s.rows {
		if r > 0 {
			gap := s.rowGap
			if rowEnds[r-1]+rowBegins[r] > 0 {
				gap = s.boxRow
			}
			y += gap + g.reach(by[r-1])
		}
		y += float64(s.boxTitle * float64(rowBegins[r]))
		g.top[r], g.bottom[r] = y, y+height[r]
		y += height[r] + float64(s.boxFoot*float64(rowEnds[r]))
	}
	for b := backwardColumn + 1; b < len(s.box); b++ {
		k := &s.box[b]
		up := g.top[k.first] - float64(s.boxTitle*float64(begins[b])) - 2
		down := g.bottom[k.last] + float64(s.boxFoot*float64(ends[b]))
		g.boxRect[b] = Rect{k.left, up, k.right - k.left, down - up}
	}
	return g
}

// reach returns the extra room below a row for links that go far sideways.
func (s *scene) reach(links []link) float64 {
	far := 0.0
	for _, l := range links {
		far = max(far, math.Abs(s.item[l.a].x-s.item[l.b].x))
	}
	return math.Round(min(s.measures.reach, far/30))
}

// node returns the outer rectangle of node i.
func (g *grid) node(i int) Rect {
	h := g.height(&g.figure.Nodes[i])
	it := &g.item[i]
	mid := (g.top[g.row[i]] + g.bottom[g.row[i]]) / 2
	return Rect{it.x - it.half, mid - h/2, 2 * it.half, h}
}

// tall returns the height of the shape of node i, without a ring.
func (g *grid) tall(i int) float64 {
	n := &g.figure.Nodes[i]
	return g.height(n) - 2*ringOf(n.Role)
}

// panel returns the part of the grid seen in panel p.
func (g *grid) panel(ctx context.Context, p int) (PanelLayout, error) {
	var out PanelLayout
	for i := range g.figure.Nodes {
		if seenIn(g.figure.Nodes[i].Panel).has(p) {
			out.Nodes = append(out.Nodes, NodeBox{Node: i, Row: g.row[i], Rect: g.node(i)})
		}
	}
	if err := g.route(ctx, p, &out); err != nil {
		return out, err
	}
	out.fit()
	return out, nil
}

// titlePlate returns the plate of a title in a box, zero for no title.
func (m *measures) titlePlate(box Rect, title string) Rect {
	if title == "" {
		return Rect{}
	}
	return Rect{box.X + textGap, box.Y + textGap, math.Ceil(TextWidth(title, m.title)*boldFactor) + 12, m.title + 5.5}
}

// fit measures the panel and moves everything to a margin from its origin. Panels that share a
// layout share the origin too: the forward column begins at 0, and only a run of an edge can be
// to the left of it.
func (l *PanelLayout) fit() {
	var w, h float64
	add := func(r Rect) { w, h = max(w, r.X+r.W), max(h, r.Y+r.H) }
	move := func(r *Rect) {
		if *r != (Rect{}) {
			r.X += margin
			r.Y += margin
		}
		add(*r)
	}
	for i := range l.Nodes {
		move(&l.Nodes[i].Rect)
	}
	for i := range l.Modules {
		move(&l.Modules[i].Rect)
		move(&l.Modules[i].Plate)
	}
	for i := range l.Edges {
		move(&l.Edges[i].Label)
		for k := range l.Edges[i].Path {
			p := &l.Edges[i].Path[k]
			*p = Point{p.X + margin, p.Y + margin}
			add(Rect{p.X, p.Y, 0, 0})
		}
	}
	l.Width, l.Height = math.Ceil(w+margin), math.Ceil(h+margin)
}
