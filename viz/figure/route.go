package figure

import (
	"context"
	"slices"
)

const (
	lane     = 10.0 // from a row to the horizontal part of an edge beside it
	bend     = 7.0  // radius of a corner
	approach = 8.0  // from a column to the turns of edges in the gutter
)

// A router draws the edges of one panel.
type router struct {
	*grid
	panel  int
	out    *PanelLayout
	ports  map[side][]port
	enters map[int][]int // by node: edges that come in from the gutter
	busy   map[int]int   // by run: number of edges that start with it
	labels labeller
}

// route adds the paths and labels of the edges seen in panel p.
func (g *grid) route(ctx context.Context, p int, out *PanelLayout) error {
	r := &router{grid: g, panel: p, out: out, ports: map[side][]port{}, enters: map[int][]int{}, busy: map[int]int{}}
	r.labels.placed = make([][]Rect, g.rows+1)
	var visible []int
	for e := range g.from {
		if g.seen[e].has(p) {
			visible = append(visible, e)
			r.attach(e)
		}
	}
	for _, s := range r.sortedSides() {
		r.spread(s)
	}
	turns := make([][]turn, len(visible))
	for k, e := range visible {
		if k%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := EdgePath{Edge: e}
		switch from, to := g.from[e], g.to[e]; {
		case g.figure.Nodes[from].Backward != g.figure.Nodes[to].Backward:
			p.Path, p.Label = r.across(e)
		case g.row[from] == g.row[to]:
			p.Path, p.Label = r.level(e)
		default:
			p.Path, turns[k] = r.along(e)
		}
		out.Edges = append(out.Edges, p)
	}
	r.titles(turns)
	r.labels.turns = make([][]owned, g.rows)
	for k := range visible {
		for _, t := range turns[k] {
			r.labels.turns[t.gap] = append(r.labels.turns[t.gap], owned{t, k})
		}
	}
	for k, e := range visible {
		if turns[k] != nil {
			r.labels.edge = k
			out.Edges[k].Label = r.labels.place(g, line(g.figure.Edges[e].label(r.panel), labelLimit), turns[k])
		}
	}
	return nil
}

// along draws an edge between rows of one column: a turn to each run, the run straight past the
// rows between, and a turn to the end. Its label may be placed on the turns, and between the rows
// of the runs.
func (r *router) along(e int) (course, []turn) {
	leave, arrive := r.sides(e)
	c := course{r.at(leave, e)}
	row, far, step := r.row[leave.node], r.row[arrive.node], 1
	if row > far {
		step = -1
	}
	var turns []turn
	sway := func(to Point) {
		turns = append(turns, turn{c.last(), to, min(row, row+step)}) // gap k lies below row k
		c.sway(to)
		row += step
	}
	for k, run := range r.runs[e] {
		x := r.item[run].x
		end := far - step // a shared run may go further than this edge
		if next := k + 1; next < len(r.runs[e]) {
			end = r.before(r.runs[e][next], step)
		}
		sway(Point{x, r.near(row+step, step)})
		for ; row != end; row += step {
			turns = append(turns, turn{Point{x, r.near(row, -step)}, Point{x, r.near(row+step, step)}, min(row, row+step)})
		}
		c.line(Point{x, r.near(end, -step)})
	}
	sway(r.at(arrive, e))
	if runs := r.runs[e]; len(runs) > 0 && r.busy[runs[0]] > 1 {
		slices.Reverse(turns) // label the branch, not the shared part
	}
	return c, turns
}

// before returns the row from which an edge that goes by step enters a run.
func (r *router) before(run, step int) int {
	if step > 0 {
		return r.item[run].first - 1
	}
	return r.item[run].last + 1
}

// near returns the border of a row that is met first when going by step.
func (r *router) near(row, step int) float64 {
	if step > 0 {
		return r.top[row]
	}
	return r.bottom[row]
}

// level draws an edge within a row: straight to a neighbour, otherwise over the top.
func (r *router) level(e int) (course, Rect) {
	from, to := r.from[e], r.to[e]
	a, b := r.node(from), r.node(to)
	dir := 1.0
	if a.X > b.X {
		dir = -1
	}
	label := line(r.figure.Edges[e].label(r.panel), labelLimit)
	if next := r.beside(from, dir); next == to {
		c := course{Point{r.flank(from, dir, 0), a.Centre().Y}}
		end := Point{r.flank(to, -dir, 0), b.Centre().Y}
		mid := Point{(c[0].X + end.X - dir*6) / 2, end.Y}
		c.line(end)
		return c, plateAt(label, mid)
	}
	y := r.top[r.row[from]] - lane - 8 // above the lane of assignments
	x0, x1 := a.Centre().X+dir*a.W/4, b.Centre().X-dir*b.W/4
	c := course{Point{x0, a.Y}}
	c.corners(Point{x0, y}, Point{x1, y}, Point{x1, b.Y})
	return c, plateAt(label, Point{(x0 + x1) / 2, y - 2})
}

// across draws an edge from one column to the other: horizontally out of its row, a curve in the
// gutter, horizontally into the row of its target. If another node is in the way it runs below
// that row.
func (r *router) across(e int) (course, Rect) {
	from, to := r.from[e], r.to[e]
	dir := 1.0
	x0, x1 := r.box[forwardColumn].right+approach, r.box[backwardColumn].left-approach
	if r.figure.Nodes[from].Backward {
		dir, x0, x1 = -1, x1, x0
	}
	// Outside its row, an assignment runs above and a saved value below.
	above := r.figure.Edges[e].Kind == Assign
	beside := func(row int) float64 {
		if above {
			return r.top[row] - lane
		}
		return r.bottom[row] + lane
	}
	edge := func(n Rect) float64 {
		if above {
			return n.Y
		}
		return n.Y + n.H
	}
	var c course
	a := r.node(from)
	if r.beside(from, dir) < 0 {
		c = course{Point{r.flank(from, dir, 0), a.Centre().Y}}
		c.line(Point{x0, c[0].Y})
	} else {
		lo, hi := r.flat(side{from, above})
		x := hi
		if dir < 0 {
			x = lo
		}
		y := beside(r.row[from])
		c = course{Point{x, edge(a)}}
		c.corners(Point{x, y}, Point{x0, y})
	}
	b := r.node(to)
	direct := r.beside(to, -dir) < 0
	in := Point{x1, beside(r.row[to])}
	offset := 0.0
	if direct {
		offset = r.entry(e)
		in.Y = b.Centre().Y + offset
	}
	label := r.labels.swing(r.rows, line(r.figure.Edges[e].label(r.panel), labelLimit), c.last(), in)
	c.swing(in)
	if direct {
		c.line(Point{r.flank(to, -dir, offset), in.Y})
		return c, label
	}
	lo, hi := r.flat(side{to, above})
	x := lo
	if dir < 0 {
		x = hi
	}
	c.corners(Point{x, in.Y}, Point{x, edge(b)})
	return c, label
}

// entry spreads the edges that enter a node from the gutter over its flank, in the order of the
// rows they come from.
func (r *router) entry(e int) float64 {
	k, n := 0, 0
	for _, d := range r.enters[r.to[e]] {
		n++
		if y, z := r.row[r.from[d]], r.row[r.from[e]]; y < z || y == z && d < e {
			k++
		}
	}
	gap := min(8, 24/float64(n))
	return float64(gap * (float64(k) - float64(n-1)/2))
}

// beside returns the node next to node i in its row and column, to the right
// for dir 1 and to the left for -1, or -1.
func (r *router) beside(i int, dir float64) int {
	next := -1
	for _, j := range r.inRow[r.row[i]] {
		o := &r.item[j]
		if o.node < 0 || o.inside[0] != r.item[i].inside[0] || !o.seen.has(r.panel) {
			continue
		}
		if d := (o.x - r.item[i].x) * dir; d > 0 && (next < 0 || d < (r.item[next].x-r.item[i].x)*dir) {
			next = o.node
		}
	}
	return next
}

// flank returns the x of the right (dir 1) or left border of node i, dy below
// its middle.
func (r *router) flank(i int, dir, dy float64) float64 {
	n := r.node(i)
	return n.X + n.W/2 + dir*(n.W/2-inset(r.figure.Nodes[i].Role, r.tall(i), dir, dy))
}
