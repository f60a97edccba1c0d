package figure

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	headLength = 8.0 // of an arrow
	headHalf   = 3.6
)

// drawPanel draws modules, edges, labels, titles and nodes, in this order, so that lines never
// cross text. The order of nodes is that in which the computation can be read aloud: values
// downwards, then gradients upwards.
func (d *drawing) drawPanel(p int) {
	l := &d.layout.Panels[p]
	for i, m := range l.Modules {
		d.item(m.item("module", p, grow(m.Rect, 1)), func() { d.drawModule(p, i, m) })
	}
	for _, saved := range [...]bool{true, false} {
		for _, e := range l.Edges {
			if (d.figure.Edges[e.Edge].Kind == Saved) == saved {
				d.item(d.edgeItem("edge", p, e, e.bounds()), func() { d.drawEdge(p, e) })
			}
		}
	}
	for _, e := range l.Edges {
		if e.Label != (Rect{}) {
			d.item(d.edgeItem("label", p, e, e.Label), func() { d.drawLabel(p, e) })
		}
	}
	for _, m := range l.Modules {
		if m.Title != "" {
			d.item(m.item("plate", p, m.Plate), func() { d.drawPlate(p, m) })
		}
	}
	nodes := slices.Clone(l.Nodes)
	slices.SortStableFunc(nodes, func(a, b NodeBox) int {
		switch back := d.figure.Nodes[a.Node].Backward; {
		case back != d.figure.Nodes[b.Node].Backward:
			if back {
				return 1
			}
			return -1
		case a.Row != b.Row && back:
			return b.Row - a.Row
		case a.Row != b.Row:
			return a.Row - b.Row
		}
		return int(a.X - b.X)
	})
	for _, n := range nodes {
		d.item(d.nodeItem(p, n), func() { d.drawNode(p, n) })
	}
}

// drawPlate draws the title of a module.
func (d *drawing) drawPlate(p int, m ModuleBox) {
	c := faint
	if m.Own {
		c = ownOf(p)
	}
	d.put(rectangle(m.Plate, 4, d.easel.attrs(module, none)))
	d.text(m.Plate.X+6, m.Plate.Y+d.measures.title+1, d.measures.title, start, true, c, m.Title)
	d.put("\n")
}

func (d *drawing) drawModule(p, i int, m ModuleBox) {
	class, stroke, width, dash := "module fwd", rule, 1.0, ""
	if m.Backward {
		class, dash = "module bwd", ` stroke-dasharray="5 4"`
	}
	if m.Own {
		stroke, width = ownOf(p), 1.8
	}
	title := "module " + m.Path
	if len(m.Copies) > 1 {
		title = "modules " + strings.Join(m.Copies, ", ")
	}
	d.put(`<g class="`, class, `" id="`, d.id(p, "m"+strconv.Itoa(i)), `"><title>`, xmlText(title), "</title>")
	if len(m.Copies) > 1 {
		d.stack(m.Rect, stroke)
	}
	d.put(
		rectangle(m.Rect, 10, d.easel.attrs(module, stroke)+` stroke-width="`+num(width)+`"`+dash), "</g>\n")
}

// stacked is the distance by which each sheet behind a box stands out.
const stacked = 4.0

// stack draws dashed sheets behind a box that stands for several.
func (d *drawing) stack(box Rect, stroke paint) {
	for _, by := range [...]float64{2 * stacked, stacked} {
		sheet := Rect{box.X + by, box.Y - by, box.W, box.H}
		d.put(rectangle(sheet, 7, d.easel.attrs(module, stroke)+` stroke-width="1" stroke-dasharray="3 3"`))
	}
}

var kindTitles = [kinds]string{"forward value", "gradient", "saved forward value", "assignment", "to the next step"}

// edgeTitle returns the whole text of e in panel p.
func edgeTitle(e *Edge, from, to *Node, p int) string {
	title := kindTitles[e.Kind] + ": " + name(from, p) + " → " + name(to, p)
	for _, more := range []string{e.label(p), e.Title} {
		if more != "" {
			title += " · " + more
		}
	}
	return title
}

func (d *drawing) drawEdge(p int, l EdgePath) {
	e := &d.figure.Edges[l.Edge]
	from, to := d.nodeByID(e.From), d.nodeByID(e.To)
	style := kindLine[e.Kind]
	opacity := ""
	if d.figure.comparing() {
		if e.Panel == p+1 || from.Panel == p+1 || to.Panel == p+1 {
			if e.Kind != Saved {
				style.width += 0.8
			}
			if e.Kind == Forward {
				style.paint = ownOf(p)
			}
		} else {
			opacity = ` opacity="0.45"`
		}
	}
	dash := ""
	if style.dash != "" {
		dash = ` stroke-dasharray="` + style.dash + `"`
	}
	if e.Kind == Saved {
		dash += ` stroke-linecap="round"`
	}
	d.put(`<g class="edge `, e.Kind.String(), `" id="`, d.id(p, "e"+strconv.Itoa(l.Edge)), `"><title>`, xmlText(edgeTitle(e, from, to, p)), "</title>")
	d.put("<g", opacity, ">", `<path d="`, pathData(l.Path), `"`, d.easel.attrs(none, style.paint), ` stroke-width="`, num(style.width), `"`, dash, "/>",
		arrowHead(l.Path, d.easel.attrs(style.paint, none)), "</g>")
	d.put("</g>\n")
}

func (d *drawing) drawLabel(p int, l EdgePath) {
	c := l.Label.Centre()
	d.put(`<g class="label" id="`, d.id(p, "l"+strconv.Itoa(l.Edge)), `">`, rectangle(l.Label, 3, d.easel.attrs(module, none)+` fill-opacity="0.92"`))
	d.text(c.X, c.Y+3.4, labelSize, middle, false, faint, line(d.figure.Edges[l.Edge].label(p), labelLimit))
	d.put("</g>\n")
}

// pathData returns the path of an edge, cut short to leave room for its head.
func pathData(path []Point) string {
	pts := slices.Clone(path)
	n := len(pts) - 1
	tip, way := pts[n], pts[n-1]
	if way.X == tip.X && way.Y == tip.Y {
		way = pts[n-3]
	}
	pts[n] = towards(tip, way, headLength-1)
	if d := pts[n-1]; math.Abs(d.X-tip.X)+math.Abs(d.Y-tip.Y) < headLength-1 {
		pts[n-1] = pts[n]
	}
	var b strings.Builder
	b.WriteString("M" + xy(pts[0]))
	for i := 1; i < len(pts); i += 3 {
		a, c1, c2, p := pts[i-1], pts[i], pts[i+1], pts[i+2]
		if a.X == c1.X && c1.X == c2.X && c2.X == p.X || a.Y == c1.Y && c1.Y == c2.Y && c2.Y == p.Y {
			b.WriteString("L" + xy(p))
		} else {
			b.WriteString("C" + xy(c1) + " " + xy(c2) + " " + xy(p))
		}
	}
	return b.String()
}

// arrowHead returns a triangle with its tip at the end of path.
func arrowHead(path []Point, attrs string) string {
	n := len(path) - 1
	tip := path[n]
	base := towards(tip, path[n-1], headLength)
	wx, wy := headHalf, 0.0
	if base.X != tip.X {
		wx, wy = 0, headHalf
	}
	return `<path d="M` + xy(Point{base.X - wx, base.Y - wy}) + "L" + xy(tip) + "L" + xy(Point{base.X + wx, base.Y + wy}) + `z"` + attrs + "/>"
}

func (d *drawing) nodeByID(id string) *Node { return &d.figure.Nodes[d.index[id]] }

// name returns what a title calls a node.
func name(n *Node, p int) string {
	if s := n.main(p); s != "" {
		return s
	}
	return n.ID
}

func (d *drawing) drawNode(p int, l NodeBox) {
	n := d.figure.Nodes[l.Node].marked(p)
	status := Plain
	if d.figure.comparing() {
		status = n.Status[p]
	}
	title := n.title(p)
	if s := statusTitles[status]; s != "" {
		title += " · " + s
	}
	way := "fwd"
	if n.Backward {
		way = "bwd"
	}
	d.put(`<g class="node role-`, n.Role.String(), " ", way)
	if status != Plain {
		d.put(" status-", status.String())
	}
	d.put(`" id="`, d.id(p, "n-"+n.ID), `" role="img" aria-label="`, xmlText(title), `"><title>`, xmlText(title), "</title>")

	fill, stroke := d.figure.roleColours(n.Role)
	text, width, bold := ink, 2.0, false
	switch status {
	case Shared:
		fill, stroke, text, width = d.sharedFill(), rule, faint, 1.3
	case Only:
		width, bold = 2.8, true
	case Upstream, Term:
		fill, width = page, 1.6
	}
	small := faint
	if over, on, ok := n.overlaid(); ok {
		fill, text, small = over, on, on
	}
	if n.Alarm.wrong() {
		stroke, width = alarmLine, 3
	}
	if len(n.Copies) > 1 {
		d.stack(grow(l.Rect, -ringOf(n.Role)), stroke)
	}
	d.put(shape(n.Role, l.Rect, d.easel.attrs(fill, stroke, "box")+` stroke-width="`+num(width)+`"`, d.easel.attrs(none, stroke)+` stroke-width="`+num(max(1, width-0.8))+`"`))
	if n.Alarm >= NotFinite {
		d.hatch(n.Role, l.Rect)
	}
	c := l.Centre()
	main, sub := line(n.main(p), textLimit), line(n.sub(p), textLimit)
	if sub == "" && n.Params == "" {
		d.text(c.X, c.Y+5, d.main, middle, bold, text, main)
	} else {
		d.text(c.X, c.Y+d.upper, d.main, middle, bold, text, main)
		base := c.Y + d.lower
		x := c.X - stripWidth(n)/2
		if sub != "" {
			d.text(x, base, d.sub, middle, false, small, sub)
		}
		d.strip(n, status == Shared, Point{x + TextWidth(sub, d.sub)/2 + stripGap, base - 9.5})
	}
	right := l.X + l.W
	if status > Shared {
		d.mark(Point{right - 3, l.Y}, status, p)
		right -= 16
	}
	if n.Alarm != NoAlarm {
		d.alarm(Point{l.X + 3, l.Y}, n.Alarm)
	}
	if badge := line(n.Badge, badgeLimit); badge != "" {
		w := badgeWidth(badge)
		d.put(rectangle(Rect{right - w + 6, l.Y - 9, w, 15}, 4, d.easel.attrs(page, stroke)))
		d.text(right-w/2+6, l.Y+2, labelSize, middle, false, ink, badge)
	}
	d.put("</g>\n")
}

// strip writes the parameters inside a node into its second line, in the colours of parameters,
// or of gradients in their column; muted in a box that both panels have.
func (d *drawing) strip(n *Node, shared bool, at Point) {
	if n.Params == "" {
		return
	}
	r := Param
	if n.Backward {
		r = Gradient
	}
	fill, stroke := d.figure.roleColours(r)
	text := ink
	if shared {
		fill, stroke, text = page, rule, faint
	}
	params := line(n.Params, textLimit)
	w := labelWidth(params)
	d.put(rectangle(Rect{at.X, at.Y, w, stripHeight}, 2, d.easel.attrs(fill, stroke)+` stroke-width="0.8"`))
	d.text(at.X+w/2, at.Y+9.5, labelSize, middle, false, text, params)
}

// sharedFill returns the fill of nodes that both panels have: no shade that could be heat.
func (d *drawing) sharedFill() paint {
	if d.figure.Overlay {
		return page
	}
	return muted
}

// title returns the whole text of n.
func (n *Node) title(p int) string {
	s := n.Title
	if s == "" {
		s = name(n, p)
		if sub := n.sub(p); sub != "" {
			s += " — " + sub
		}
	}
	s += " · " + roleTitles[n.Role]
	for _, more := range []string{alarmTitles[n.Alarm], n.Badge} {
		if more != "" {
			s += " · " + more
		}
	}
	return s
}

// mark draws the sign of a status in a disc.
func (d *drawing) mark(at Point, s Status, p int) {
	disc := ownOf(p)
	if s == Upstream {
		disc = faint
	}
	path := "M-4.2,0H4.2M0,-4.2V4.2"
	switch s {
	case Upstream:
		path = "M-4.4,-1.2C-2.6,-4 -1,-2 0,-1.7S2.6,-0.6 4.4,-3M-4.4,2.8C-2.6,0 -1,2 0,2.3S2.6,3.4 4.4,1"
	case Term:
		path = "M0,-4.4L4.3,3.2H-4.3Z"
	}
	d.sign(at, disc, path)
}

// sign draws lines around 0,0 on a disc.
func (d *drawing) sign(at Point, disc paint, path string) {
	d.put(`<circle cx="`, num(at.X), `" cy="`, num(at.Y), `" r="8"`, d.easel.attrs(disc, none), "/>",
		`<path transform="translate(`, num(at.X), " ", num(at.Y), `)" d="`, path, `"`, d.easel.attrs(none, page, "mark"), ` stroke-width="1.8" stroke-linejoin="round"/>`)
}
