package viz

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// side is one side of a comparison while the figure is built.
type side struct {
	*view
	panel  int                         // 0 or 1
	other  map[*graph.Node]*graph.Node // counterparts
	peer   *view
	id     map[*graph.Node]string
	host   map[*graph.Node]*graph.Node   // of what is written into the box of another node
	inside map[*graph.Node][]*graph.Node // by host
	paths  map[string]string             // of the scopes, in the figure; see [Difference.paths]
	made   sync.Map                      // boxes of nodes before they are marked, by these
}

// node returns the box of a node without marks, which is found once.
func (s *side) node(n *graph.Node) figure.Node {
	if b, found := s.made.Load(n); found {
		return b.(figure.Node)
	}
	b := s.view.node(n)
	s.made.Store(n, b)
	return b
}

// Figure draws both sides as two panels, with shared nodes at the same place in both.
//
// Exchanging A and B exchanges the panels and nothing else, because the figure is built in an
// order that does not depend on which side is which.
func (d *Difference) Figure() *figure.Figure {
	if d.whole() != nil {
		return &figure.Figure{}
	}
	f := &figure.Figure{Overlay: d.a.options.marks != nil, Heat: d.a.options.heat}
	first, second := d.sides()
	status := d.statuses()
	for _, n := range first.boxes() {
		d.a.look()
		f.Nodes = append(f.Nodes, first.draw(n, second, status))
	}
	for _, n := range second.boxes() {
		if !first.visible[second.other[n]] {
			f.Nodes = append(f.Nodes, second.draw(n, first, status))
		}
	}
	still := d.still(f.Nodes)
	f.Title, f.Subtitle, f.Desc, f.Panels, f.Footer = still.Title, still.Subtitle, still.Desc, slices.Clone(still.Panels), slices.Clone(still.Footer)
	f.Edges, f.Modules, f.Signs = slices.Clone(still.Edges), slices.Clone(still.Modules), slices.Clone(still.Signs)
	return f
}

// still returns what no mark changes of the figure with the given nodes: all but these. It is found
// once.
func (d *Difference) still(nodes []figure.Node) *figure.Figure {
	d.lock.Lock()
	found := d.unmarked
	d.lock.Unlock()
	if found != nil {
		return found
	}
	title := d.titles()
	f := &figure.Figure{
		Title:    d.a.options.title,
		Subtitle: d.sentence(),
		Desc:     "Two computational graphs side by side, A " + title[0] + " and B " + title[1] + ": " + d.Sentence() + " " + capital(d.Summary()) + ".",
		Footer:   []string{"Against A, " + d.Summary() + ".", "What both have is drawn muted, at the same place; what differs is in colour."},
	}
	if f.Title == "" {
		f.Title = strings.Join(title[:], " and ")
	}
	for i, letter := range []string{"A", "B"} {
		f.Panels = append(f.Panels, figure.Panel{Title: strings.TrimSuffix(letter+" · "+d.heading(i, title, Equation.pictured), " · "), Short: title[i]})
	}
	if slices.ContainsFunc(nodes, func(n figure.Node) bool { return n.Backward }) {
		f.Footer[1] += " Left column: values, read down. Right column: derivatives, read up, each in the row of its value."
	}
	first, second := d.sides()
	if len(first.host)+len(second.host) > 0 {
		f.Footer[0] += " A parameter inside a box counts as one."
	}
	f.Footer = append(f.Footer, d.Matching())
	f.Edges = unite(first, second)
	f.Modules = modulesOf(nodes, second)
	f.Signs = d.a.signs(nodes)
	for _, s := range d.b.signs(nodes) {
		if !slices.Contains(f.Signs, s) {
			f.Signs = append(f.Signs, s)
		}
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	d.unmarked = f
	return f
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// modulesOf returns the modules of the figure with their titles, which may differ between panels.
func modulesOf(nodes []figure.Node, second *side) (out []figure.Module) {
	own := map[string]string{} // the scopes of the second side, by their paths in the figure
	for from, to := range second.paths {
		own[to] = from
	}
	for _, m := range second.modules(nodes) {
		base := m
		base.Title = strings.TrimRight(m.Title, "′")
		out = append(out, base)
		if from, ok := own[m.Path]; ok && lastName(from) != lastName(m.Path) {
			base.Panel = second.panel + 1
			base.Title, _ = second.moduleTitle(from, m.Backward)
			out = append(out, base)
		}
	}
	return out
}

// figurePaths returns, for each scope of the second side, its path in the figure: that of the
// matched scope of the first side, or one that this does not have.
func (d *Difference) figurePaths(first, second *side) map[string]string {
	to := d.match.scope
	if second.panel == 1 {
		to = d.match.origin
	}
	taken := map[string]bool{"": true}
	for _, n := range first.cone {
		for path := first.path(n); !taken[path]; path = parent(path) {
			taken[path] = true
		}
	}
	out := map[string]string{"": ""}
	var find func(path string) string
	find = func(path string) string {
		if p, met := out[path]; met {
			return p
		}
		around := find(parent(path))
		p, matched := to[path]
		if !matched {
			for p = around + "/" + lastName(path); taken[strings.TrimPrefix(p, "/")]; {
				p += "′"
			}
			p = strings.TrimPrefix(p, "/")
			taken[p] = true
		}
		out[path] = p
		return p
	}
	for _, n := range second.cone {
		find(second.path(n))
	}
	return out
}

// ScopeOf returns the scope of a side, 0 for A and 1 for B, that the figure draws as a module of the
// given path.
func (d *Difference) ScopeOf(side int, path string) string {
	if d.whole() != nil {
		return path
	}
	_, second := d.sides()
	if second.panel == side {
		for from, to := range second.paths {
			if to == path {
				return from
			}
		}
	}
	return path
}

// module returns the path of a node in the figure: that of its value, and for one that both sides
// have in scopes that are not matched that of the scope around both.
func (s *side) module(n *graph.Node, peer *side) string {
	if a, beside := s.of[n]; beside {
		n = a.Of
	}
	path := s.inFigure(n)
	x := s.other[n]
	if !s.peer.visible[x] {
		return path
	}
	for other := peer.inFigure(x); !within(other, path); {
		path = parent(path)
	}
	return path
}

func (s *side) inFigure(n *graph.Node) string {
	if p, ok := s.paths[s.path(n)]; ok {
		return p
	}
	return s.path(n)
}

// Mark gives the figures that are drawn from then on an overlay and the meaning of its colours; see
// [Overlay] and [HeatScale]. With nil marks they have none. They differ in nothing else: one
// [figure.Layout] is that of all.
func (d *Difference) Mark(marks map[*graph.Node]Mark, scale string) {
	if d.whole() != nil {
		return
	}
	for _, v := range []*view{d.a, d.b} {
		v.options.marks, v.options.heat = marks, scale
		if len(marks) > 0 && v.absorbed == nil {
			v.absorbed = v.absorb()
		}
	}
}

// sides returns the two sides, which are found once; shared boxes get their ids from the first.
func (d *Difference) sides() (first, second *side) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.second == nil { // also where a context ended while they were being found
		d.first, d.second = d.newSides()
	}
	return d.first, d.second
}

func (d *Difference) newSides() (first, second *side) {
	first = &side{view: d.a, panel: 0, other: d.match.a, peer: d.b, id: map[*graph.Node]string{}}
	second = &side{view: d.b, panel: 1, other: d.match.b, peer: d.a, id: map[*graph.Node]string{}}
	if cmp.Compare(d.a.fingerprint(), d.b.fingerprint()) > 0 {
		first, second = second, first
	}
	second.paths = d.figurePaths(first, second)
	first.identify("p", nil)
	second.identify("q", first)
	d.hold(first, second)
	return first, second
}

// Boxes maps the ID of each box of the figure to its nodes: a node of A, one of B, or one of
// each. What is written into the box of another node has none.
func (d *Difference) Boxes() map[string]Pair {
	out := map[string]Pair{}
	if d.whole() != nil {
		return out
	}
	first, second := d.sides()
	for _, s := range []*side{first, second} {
		for _, n := range s.boxes() {
			p := out[s.id[n]]
			if s.panel == 0 {
				p.A = n
			} else {
				p.B = n
			}
			out[s.id[n]] = p
		}
	}
	return out
}

// identify assigns ids; shared nodes get those of the side drawn before.
func (s *side) identify(prefix string, before *side) {
	for _, n := range s.shown {
		switch x := s.other[n]; {
		case s.peer.visible[x] && before != nil:
			s.id[n] = before.id[x]
		case s.peer.visible[x]:
			s.id[n] = "s" + strconv.Itoa(n.ID())
		default:
			s.id[n] = prefix + strconv.Itoa(n.ID())
		}
	}
}

// statuses returns the status of each node.
func (d *Difference) statuses() map[*graph.Node]figure.Status {
	out := map[*graph.Node]figure.Status{}
	for _, n := range append(slices.Clip(d.OnlyA), d.OnlyB...) {
		out[n] = figure.Only
	}
	set := func(pairs []Pair, a, b figure.Status) {
		for _, p := range pairs {
			out[p.A], out[p.B] = a, b
		}
	}
	set(d.Upstream, figure.Upstream, figure.Upstream)
	set(d.TermA, figure.Term, figure.Upstream)
	set(d.TermB, figure.Upstream, figure.Term)
	set(d.Shared, figure.Shared, figure.Shared)
	return out
}

// draw returns the box of a node of this side, which the other side may have too.
func (s *side) draw(n *graph.Node, second *side, status map[*graph.Node]figure.Status) figure.Node {
	b := s.node(n)
	s.view.hold(&b, s.inside[n])
	s.mark(&b, []*graph.Node{n})
	b.ID = s.id[n]
	b.Panel = s.panel + 1
	b.Module = s.module(n, second)
	if a, ok := s.of[n]; ok {
		b.Row = s.id[s.box(a.Of)]
	}
	b.Status[s.panel] = status[n]
	if x := s.other[n]; s.peer.visible[x] {
		c := second.node(x)
		second.mark(&c, []*graph.Node{x})
		if s.options.marks != nil {
			b.PanelMark[s.panel], b.PanelMark[second.panel] = markOf(&b), markOf(&c)
		}
		b.Panel = 0
		b.Status[second.panel] = status[x]
		if c.Alarm > b.Alarm || c.Alarm == b.Alarm && c.Heat > b.Heat { // one box stands for both, so the worse mark counts
			b.Heat, b.Group, b.Badge, b.Alarm = c.Heat, c.Group, c.Badge, c.Alarm
		}
		if c.Role != b.Role {
			own, other := b.Role, c.Role
			b.PanelRole[s.panel], b.PanelRole[second.panel] = &own, &other
		}
		if c.Main != b.Main {
			b.PanelMain[s.panel], b.PanelMain[second.panel] = b.Main, c.Main
		}
		if c.Sub != b.Sub {
			b.PanelSub[s.panel], b.PanelSub[second.panel], b.Sub = b.Sub, c.Sub, "" // either may be empty
		}
		if c.Title != b.Title {
			b.Title += "\n" + c.Title
		}
	}
	return b
}

func markOf(b *figure.Node) *figure.Mark {
	return &figure.Mark{Heat: b.Heat, Group: b.Group, Badge: b.Badge, Alarm: b.Alarm}
}

// unite joins the edges of both sides.
func unite(first, second *side) []figure.Edge {
	var out []figure.Edge
	type ends struct{ from, to string }
	at := map[ends]int{}
	for _, s := range []*side{first, second} {
		var boxes []box
		for _, n := range s.boxes() {
			b := box{s.node(n), append([]*graph.Node{n}, s.inside[n]...)}
			b.node.ID = s.id[n]
			boxes = append(boxes, b)
		}
		for _, e := range s.edges(boxes) {
			i, met := at[ends{e.From, e.To}]
			if met && out[i].Panel != s.panel+1 {
				out[i].Panel = 0
				if e.Label != out[i].Label {
					out[i].PanelLabel[first.panel], out[i].PanelLabel[s.panel] = out[i].Label, e.Label
				}
				continue
			}
			e.Panel = s.panel + 1
			at[ends{e.From, e.To}] = len(out)
			out = append(out, e)
		}
	}
	return out
}

// fingerprint returns a text that differs for views that show different things.
func (v *view) fingerprint() string {
	var b strings.Builder
	for _, n := range v.shown {
		b.WriteString(v.describe(n))
		for _, x := range n.Inputs() {
			b.WriteString(" " + strconv.Itoa(x.ID()))
		}
	}
	return b.String()
}
