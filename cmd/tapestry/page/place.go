package page

import (
	"context"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// placeView says where a drawing shows a node.
type placeView struct {
	How   placeHow `json:"how"`
	Item  string   `json:"item,omitempty"`  // the box that shows it or holds it
	Label string   `json:"label,omitempty"` // of that box
	Open  []string `json:"open,omitempty"`  // inModule: what to open so that it is drawn by itself, outermost first
}

// placeHow is how a drawing shows a node.
type placeHow string

const (
	byItself   placeHow = "drawn"
	inFormula  placeHow = "formula"   // in the formula of another node's box
	inModule   placeHow = "module"    // in a module that is closed, or in one of several that are drawn once
	noGradient placeHow = "gradients" // it is a derivative, and they are not drawn
	otherLevel placeHow = "level"     // the level draws another graph
	nowhere    placeHow = "nowhere"
)

// place answers where the drawing that a request describes shows a node.
func (s *Service) place(r *request, d *document) (any, error) {
	n, v, err := d.node(r.ctx, r.place("node"))
	if err != nil {
		return nil, err
	}
	q, err := drawingOf(r, d)
	if err != nil {
		return nil, err
	}
	return d.place(r.ctx, n, v, q)
}

func (d *document) place(ctx context.Context, n *graph.Node, of *variant, q drawing) (*placeView, error) {
	v, err := d.at(ctx, q.level)
	if err != nil {
		return nil, err
	}
	if v != of {
		return &placeView{How: otherLevel}, nil
	}
	planned, err := d.plan(ctx, v, q)
	if err != nil {
		return nil, err
	}
	f := planned.plan.Figure(nil, "")
	p := &placing{v: v, f: f, boxes: planned.boxes, drawn: map[string]*figure.Node{}}
	for i := range f.Nodes {
		p.drawn[f.Nodes[i].ID] = &f.Nodes[i]
	}
	if n.IsBackward() && !q.gradients && p.box(n) == nil {
		return &placeView{How: noGradient}, nil
	}
	if found := p.of(n); found != nil {
		return found, nil
	}
	met := map[*graph.Node]bool{n: true}
	for next := []*graph.Node{n}; len(next) > 0; next = next[1:] { // the nearest box that it leads to
		for _, user := range v.cone {
			if met[user] || !slices.Contains(user.Inputs(), next[0]) {
				continue
			}
			if found := p.of(user); found != nil {
				if found.How == byItself {
					found.How = inFormula
				}
				return found, nil
			}
			met[user] = true
			next = append(next, user)
		}
	}
	return &placeView{How: nowhere}, nil
}

// placing finds nodes of a variant in a drawing.
type placing struct {
	v     *variant
	f     *figure.Figure
	boxes [][]*graph.Node
	drawn map[string]*figure.Node
}

// box returns the box of a node, or nil.
func (p *placing) box(n *graph.Node) *figure.Node {
	return p.drawn[string(asWritten)+p.v.id(n)[1:]] // as drawings of all variants call it
}

// of returns the place of a node that is drawn, or that a box or module holds, and otherwise nil.
func (p *placing) of(n *graph.Node) *placeView {
	if box := p.box(n); box != nil {
		return &placeView{How: byItself, Item: box.ID, Label: box.Main}
	}
	scopes := []string{n.First().Scope}
	for _, members := range p.boxes {
		if !slices.Contains(members, n) {
			continue
		}
		for _, m := range members {
			if box := p.box(m); box != nil {
				return &placeView{How: inFormula, Item: box.ID, Label: box.Main}
			}
			scopes = append(scopes, m.First().Scope)
		}
	}
	for _, scope := range scopes {
		if found := closedAround(p.f, scope, n.IsBackward()); found != nil {
			return found
		}
	}
	for path, nodes := range p.v.looped {
		if slices.Contains(nodes, n) {
			return &placeView{How: inFormula, Item: figure.ModuleID(path, n.IsBackward()), Label: path}
		}
	}
	return nil
}

// closedAround finds the box that stands for a scope, or the module that is drawn for several of
// which one is around it.
func closedAround(f *figure.Figure, scope string, backward bool) *placeView {
	around := func(path string) bool { return path != "" && (scope == path || strings.HasPrefix(scope, path+"/")) }
	for i := range f.Nodes {
		box := &f.Nodes[i]
		if box.Closed == "" || box.Backward != backward {
			continue
		}
		path := box.Closed
		if k := slices.IndexFunc(box.Copies, around); k >= 0 {
			path = box.Copies[k]
		}
		if around(path) {
			return &placeView{How: inModule, Item: box.ID, Label: box.Main, Open: pathsDown(path, scope)}
		}
	}
	for _, m := range f.Modules {
		if slices.ContainsFunc(m.Copies, around) {
			return &placeView{How: inModule, Item: figure.ModuleID(m.Path, backward), Label: m.Title, Open: m.Copies}
		}
	}
	return nil
}

// pathsDown lists the modules from one around a scope to the scope.
func pathsDown(path, scope string) []string {
	out := []string{path}
	for i := len(path) + 1; i < len(scope); i++ {
		if scope[i] == '/' {
			out = append(out, scope[:i])
		}
	}
	if scope != path {
		out = append(out, scope)
	}
	return out
}
