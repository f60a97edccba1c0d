package page

import (
	"context"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/firing"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// rewriting holds the firings of rewrite rules when the model as written is compiled, each checked
// by numbers at the first state.
type rewriting struct {
	history *rewrite.History
	checks  []rewrite.Check
	nodes   [2]int // before and after
}

func (d *document) rewriting(ctx context.Context) (*rewriting, error) {
	if d.fired != nil {
		return d.fired, nil
	}
	w := d.asWritten
	h, err := rewrite.TraceContext(ctx, d.model.Graph, w.all(), rewrite.Passes()...)
	if err != nil {
		return nil, err
	}
	feed, store, err := d.session.at(ctx, 0, d.model.Graph)
	if err != nil {
		return nil, err
	}
	values, err := feed.Values()
	if err != nil {
		return nil, err
	}
	for _, n := range w.cone {
		if n.Role() != graph.RoleParam && n.Role() != graph.RoleState {
			continue
		}
		t, err := store.Get(n.Path())
		if err != nil {
			return nil, err
		}
		a, err := tape.ArrayOf(n.Type(), t)
		if err != nil {
			return nil, err
		}
		values[n] = a.Value()
	}
	checks, err := h.Check(ctx, values)
	if err != nil {
		return nil, err
	}
	var after []*graph.Node
	for _, n := range w.all() {
		after = append(after, h.Node(n))
	}
	d.fired = &rewriting{h, checks, [2]int{len(w.cone), len(graph.Reachable(after...))}}
	return d.fired, nil
}

// rewritesView lists the firings in order.
type rewritesView struct {
	Nodes   [2]int       `json:"nodes"` // before and after
	Firings []firingView `json:"firings"`
}

// firingView describes one firing of a rule.
type firingView struct {
	Pass   string   `json:"pass"`
	Rule   string   `json:"rule"`
	Why    string   `json:"why"`
	Pos    string   `json:"pos,omitempty"`
	Before sideView `json:"before"`
	After  sideView `json:"after"`
	Check  string   `json:"check"`
	Right  bool     `json:"right"`
	Values *[2]int  `json:"values"` // that the operations of both sides compute; null where all gradients are derived again
}

type sideView struct {
	Text   string `json:"text"`
	MathML string `json:"mathml,omitempty"`
}

func (s *Service) rewrites(r *request, d *document) (any, error) {
	h, err := d.rewriting(r.ctx)
	if err != nil {
		return nil, err
	}
	out := &rewritesView{Nodes: h.nodes, Firings: []firingView{}}
	for i, f := range h.history.Firings {
		before, after := firing.Sides(f)
		out.Firings = append(out.Firings, firingView{f.Pass, f.Rule, f.Why, position(f.Pos), sideView(before), sideView(after),
			firing.Checked(h.checks[i]), firing.Right(h.checks[i], d.model.Result().DType()), computed(f)})
	}
	return out, nil
}

// computed counts the elements that the operations of both sides of a firing compute, without what
// the sides share; nil where all of a gradient was derived again.
func computed(f rewrite.Firing) *[2]int {
	if f.Rederived() {
		return nil
	}
	var out [2]int
	before, after := f.Small()
	for i, side := range []*graph.Node{before, after} {
		for _, n := range graph.Reachable(side) {
			if n.Role() == graph.RoleOp {
				out[i] += n.Shape().Len()
			}
		}
	}
	return &out
}

// firingSheet draws both sides of a firing beside each other. The sides have graphs of their own,
// so that their boxes are not nodes of the document.
func (s *Service) firingSheet(r *request, d *document) (any, error) {
	h, err := d.rewriting(r.ctx)
	if err != nil {
		return nil, err
	}
	i, err := index(r.place("i"), len(h.history.Firings))
	if err != nil {
		return nil, err
	}
	diff, err := firing.Drawing(h.history.Firings[i])
	if err != nil {
		return nil, err
	}
	f := diff.Figure()
	sheet, err := f.Sheet(r.ctx)
	if err != nil {
		return nil, err
	}
	boxes := map[string]*figure.Node{}
	for i := range f.Nodes {
		boxes[f.Nodes[i].ID] = &f.Nodes[i]
	}
	out := &sheetView{Sheet: sheet, Items: []itemView{}, Modules: []moduleView{}, Folded: []string{}}
	for _, item := range sheet.Items {
		v := itemView{Item: item}
		if n := boxes[item.ID]; n != nil && item.Kind == "node" {
			v.Label, v.Role = n.Main, n.Role.String()
		}
		out.Items = append(out.Items, v)
	}
	return out, nil
}
