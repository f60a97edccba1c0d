package viz

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// A Plan is a drawing that is marked again and again, as at one step of a training after another:
// what is drawn, and the formulas, are found once. A Plan must not be used by several goroutines at
// once.
type Plan struct {
	view   *view
	boxes  []box
	figure figure.Figure
}

// NewPlan plans the drawing that [Draw] makes of the roots. It stops with the error of ctx once ctx
// is done.
func NewPlan(ctx context.Context, roots []*graph.Node, opts ...Option) (p *Plan, err error) {
	defer catch(&err)
	p, err = newPlan(roots, append(opts[:len(opts):len(opts)], until(ctx)))
	if err == nil {
		p.view.ctx = nil
	}
	return p, err
}

func newPlan(roots []*graph.Node, opts []Option) (*Plan, error) {
	v, err := newView(roots, collect(append(opts[:len(opts):len(opts)], withLoops)))
	if err != nil {
		return nil, err
	}
	v.fold()
	if err := v.checkOpen(); err != nil {
		return nil, err
	}
	p := &Plan{view: v, boxes: v.group()}
	f := &p.figure
	f.Title, f.Subtitle, f.Desc = v.options.title, v.subtitle(), v.summary()
	if f.Title == "" {
		f.Title = oneLine(roots[0].Graph().Name())
	}
	for _, b := range p.boxes {
		f.Nodes = append(f.Nodes, b.node)
	}
	f.Dense = v.dense
	f.Edges = v.edges(p.boxes)
	f.Modules = v.modules(f.Nodes)
	f.Signs = v.signs(f.Nodes)
	return p, nil
}

// Figure returns the drawing with an overlay and the meaning of its colours; see [Overlay] and
// [HeatScale]. With nil marks there is no overlay. Figures of one plan differ in nothing else: one
// [figure.Layout] is that of all.
func (p *Plan) Figure(marks map[*graph.Node]Mark, scale string) *figure.Figure {
	if p == nil || p.view == nil {
		return nil
	}
	f := p.figure
	f.Overlay, f.Heat = marks != nil, scale
	if len(marks) == 0 {
		f.Nodes = slices.Clone(f.Nodes)
		return &f
	}
	f.Nodes = nil
	p.view.options.marks = marks
	if p.view.absorbed == nil {
		p.view.absorbed = p.view.absorb()
	}
	for _, b := range p.boxes {
		p.view.mark(&b.node, b.members)
		f.Nodes = append(f.Nodes, b.node)
	}
	return &f
}

// Contents lists the nodes of each box; see the function [Contents].
func (p *Plan) Contents() [][]*graph.Node {
	if p == nil || p.view == nil {
		return nil
	}
	v := p.view
	var out [][]*graph.Node
	for _, b := range p.boxes { // nodes of bodies have no values of their own
		out = append(out, slices.DeleteFunc(slices.Clone(b.members), func(n *graph.Node) bool { return v.inside[n] != nil && v.stands[n] == nil }))
	}
	for i, members := range v.withAbsorbed(out) {
		out[i] = slices.DeleteFunc(members, func(n *graph.Node) bool { return v.inside[n] != nil })
	}
	return slices.DeleteFunc(out, func(members []*graph.Node) bool { return len(members) == 0 })
}
