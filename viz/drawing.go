package viz

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// Roots returns the nodes that a graph computes for its user: those that no other node uses, and
// those that its updates assign.
func Roots(g *graph.Graph) []*graph.Node {
	if g == nil {
		return nil
	}
	used := map[*graph.Node]bool{}
	for _, n := range g.Nodes() {
		for _, x := range n.Inputs() {
			used[x] = true
		}
	}
	for _, u := range g.Updates() {
		used[u.Value] = false
	}
	return slices.DeleteFunc(g.Nodes(), func(n *graph.Node) bool { return used[n] })
}

// Draw returns the figure of what the roots depend on. Values are in the left column, to be read
// downwards. Derivatives, if any, are in the right one, to be read upwards, each in the row of
// its value.
//
// It is an error to give no root, an invalid one, or roots of two graphs.
func Draw(roots []*graph.Node, opts ...Option) (*figure.Figure, error) {
	p, err := newPlan(roots, opts)
	if err != nil {
		return nil, err
	}
	return p.Figure(p.view.options.marks, p.view.options.heat), nil
}

// SVG writes the drawing of the roots as a self-contained SVG document. Its errors are those of
// [Draw] and of w.
func SVG(w io.Writer, roots []*graph.Node, opts ...Option) error {
	f, err := Draw(roots, opts...)
	if err != nil {
		return err
	}
	return f.SVG(w, collect(opts).figure...)
}

// DOT writes the drawing of the roots in the Graphviz language. Its errors are those of [Draw]
// and of w.
func DOT(w io.Writer, roots []*graph.Node, opts ...Option) error {
	f, err := Draw(roots, opts...)
	if err != nil {
		return err
	}
	return f.DOT(w, collect(opts).figure...)
}

// subtitle returns the formula of the first loss.
func (v *view) subtitle() string {
	for _, n := range v.cone {
		if v.losses[n] {
			return v.equation(n).pictured()
		}
	}
	return ""
}

// summary returns one sentence for people who cannot see the drawing.
func (v *view) summary() string {
	forward, backward := 0, 0
	for _, n := range v.shown {
		if v.backward[n] {
			backward++
		} else {
			forward++
		}
	}
	s := fmt.Sprintf("A computational graph of %s", plural.Count(forward, "value"))
	if backward > 0 {
		s += " and " + plural.Count(backward, "node") + " of derivatives"
	}
	s += ", at level " + v.options.level.String() + "."
	if v.folding != nil {
		var folded []string
		for _, t := range v.folding.all {
			folded = append(folded, t.text())
		}
		s += " Drawn once for all: " + strings.Join(folded, "; ") + "."
	}
	return s
}

// node returns the box of a single node.
func (v *view) node(n *graph.Node) figure.Node {
	main, sub := v.label(n)
	b := figure.Node{ID: v.boxID(n), Main: main, Sub: sub, Title: v.describe(n), Role: v.role(n), Module: v.scope(n), Backward: v.backward[n]}
	if a, ok := v.of[n]; ok {
		b.Row = v.boxID(a.Of)
	}
	return b
}

// edges returns the edges between the boxes.
func (v *view) edges(boxes []box) []figure.Edge {
	home := map[*graph.Node]*box{}
	for i := range boxes {
		for _, n := range boxes[i].members {
			home[n] = &boxes[i]
		}
	}
	type ends struct{ from, to string }
	at := map[ends]int{}
	var out []figure.Edge
	var carried [][]string
	for _, l := range v.flow() {
		from, to := home[l.from].node, home[l.to].node
		e := figure.Edge{From: from.ID, To: to.ID, Kind: kind(from.Backward, to.Backward), Title: l.value.String()}
		if e.Kind == figure.Saved && v.options.noSaved || from.ID == to.ID {
			continue
		}
		label := ""
		if from.Closed != "" && e.Kind == figure.Forward && !v.dense { // other boxes say their axes themselves
			label = v.axes(l.value)
		}
		i, met := at[ends{e.From, e.To}]
		if !met {
			i = len(out)
			at[ends{e.From, e.To}] = i
			out, carried = append(out, e), append(carried, nil)
		} else {
			out[i].Title += "\n" + e.Title
		}
		if !slices.Contains(carried[i], label) && label != "" {
			carried[i] = append(carried[i], label)
		}
	}
	for i, labels := range carried {
		if len(labels) > 2 {
			labels = []string{plural.Count(len(labels), "array")}
		}
		out[i].Label = strings.Join(labels, ", ")
	}
	for _, l := range v.all {
		for k, x := range l.body.Out()[:l.Carries] {
			if from, to := home[x], home[l.body.In()[k]]; v.drawn(l.node) == l.node && from.node.ID != to.node.ID {
				out = append(out, figure.Edge{From: from.node.ID, To: to.node.ID, Kind: figure.Carry, Title: x.String()})
			}
		}
	}
	assigned := map[ends]bool{}
	for _, n := range v.shown {
		for _, target := range v.updates[n] {
			if from, to := home[n].node.ID, home[target]; to != nil && to.node.ID != from && !assigned[ends{from, to.node.ID}] {
				assigned[ends{from, to.node.ID}] = true
				out = append(out, figure.Edge{From: from, To: to.node.ID, Kind: figure.Assign})
			}
		}
	}
	return out
}

func kind(fromBackward, toBackward bool) figure.Kind {
	switch {
	case !toBackward:
		return figure.Forward
	case fromBackward:
		return figure.Grad
	}
	return figure.Saved
}

// modules returns the scopes that hold nodes, with their titles.
func (v *view) modules(nodes []figure.Node) []figure.Module {
	var out []figure.Module
	type column struct {
		path     string
		backward bool
	}
	met := map[column]bool{}
	for _, n := range nodes {
		parts := strings.Split(n.Module, "/")
		for i := range parts {
			m := figure.Module{Path: strings.Join(parts[:i+1], "/"), Backward: n.Backward}
			if n.Module == "" || met[column{m.Path, m.Backward}] {
				continue
			}
			met[column{m.Path, m.Backward}] = true
			m.Title, m.Copies = v.moduleTitle(m.Path, n.Backward)
			out = append(out, m)
		}
	}
	return out
}

// moduleTitle returns the last name of a path, and the scopes that it stands for if it repeats.
func (v *view) moduleTitle(path string, backward bool) (title string, copies []string) {
	title = path[strings.LastIndexByte(path, '/')+1:]
	for _, l := range v.all {
		if v.drawn(l.node) == l.node && l.base == l && v.loopPath(l) == path {
			title = l.title()
		}
	}
	if v.folding != nil {
		for _, s := range v.folding.all {
			if v.folding.rename(s.model) == path {
				title, copies = s.text(), s.copies
			}
		}
	}
	if backward {
		title = "∂ " + title
	}
	return title, copies
}
