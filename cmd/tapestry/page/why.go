package page

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/viz"
)

// whyView explains an element of a value.
type whyView struct {
	Node   string      `json:"node"`
	At     []int       `json:"at"`
	Axes   []axisView  `json:"axes"`
	Place  string      `json:"place"` // the element as it is written
	Value  number      `json:"value"`
	Step   int         `json:"step"`
	Within string      `json:"within,omitempty"` // the step of a loop, which is all that the shares are of
	Shares []shareView `json:"shares"`
}

// shareView is a value that has to do with the element.
type shareView struct {
	Node  string     `json:"node"`
	Label string     `json:"label"`
	Role  string     `json:"role"`
	Scope string     `json:"scope"`
	Back  bool       `json:"backward"`
	Exact bool       `json:"exact"` // the element is linear in the value; otherwise the parts are right to first order
	None  string     `json:"none,omitempty"`
	Total number     `json:"total"`
	Size  number     `json:"size"` // of the absolute contributions
	Count int        `json:"count"`
	Parts []partView `json:"parts"`
	Rows  []partView `json:"rows"` // slices along the first axis
}

type partView struct {
	At           []int  `json:"at"`
	Place        string `json:"place"`
	Value        number `json:"value"`
	Contribution number `json:"contribution"`
}

// mostParts is how many parts are listed of a value.
const mostParts = 8

// The ways in which an element is explained.
var ways = map[string]bool{"operands": true, "sources": true, "effects": true}

// why answers what an element of a node is made of: of the boxes that lead to its box at a level, or
// of everything that it is computed from; or what the element has to do with everything that is computed from it.
func (s *Service) why(r *request, d *document) (any, error) {
	ctx := r.ctx
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	way := r.query.Get("way")
	if way == "" {
		way = "operands"
	}
	if !ways[way] {
		return nil, badf("way=%.40s: want operands, sources or effects", way)
	}
	if r.place("node")[0] == ofStep {
		return d.stepWhy(r, way, step)
	}
	n, v, err := d.node(ctx, r.place("node"))
	if err != nil {
		return nil, err
	}
	at, err := elementOf(r, n.Shape())
	if err != nil {
		return nil, err
	}
	record, err := d.record(ctx, v, step)
	if err != nil {
		return nil, err
	}
	position := positionOf(at, n.Shape())
	out := &whyView{Node: v.id(n), At: at, Axes: axes(n.Shape()), Step: step, Shares: []shareView{}}
	entry := inspect.EntryAt(n, position, record.Value(n).At(position))
	out.Place, out.Value = v.place(entry), number(entry.Value)
	var shares []inspect.Share
	switch way {
	case "sources":
		shares, err = record.Sources(ctx, n, position, mostParts)
	case "effects":
		shares, err = record.Effects(ctx, n, position, mostParts)
	default:
		var reason *inspect.Reason
		var boxes []*graph.Node
		if boxes, err = boxesOf(r, v); err != nil {
			return nil, err
		}
		if reason, err = record.Why(ctx, n, position, mostParts, boxes...); err == nil {
			shares = reason.Operands
		}
	}
	if err != nil {
		return nil, failf(unprocessable, "%w", err)
	}
	for _, x := range shares {
		out.Shares = append(out.Shares, newShare(v, x))
	}
	return out, nil
}

// boxesOf returns the nodes that boxes of a drawing with all modules open show.
func boxesOf(r *request, v *variant) (out []*graph.Node, err error) {
	level, err := levelOf(r)
	if err != nil {
		return nil, err
	}
	boxes, err := viz.Contents(v.all(), viz.At(level), viz.CollapseAbove(-1), viz.Unfolded())
	for _, nodes := range boxes {
		out = append(out, nodes[0])
	}
	return out, err
}

func newShare(v *variant, x inspect.Share) shareView {
	parts := func(of []inspect.Part) []partView {
		out := []partView{}
		for _, p := range of {
			out = append(out, partView{p.Index, v.place(p.Entry), number(p.Value), number(p.Contribution)})
		}
		return out
	}
	return shareView{Node: v.id(x.Node), Label: v.called(x.Node), Role: x.Node.Role().String(), Scope: x.Node.First().Scope, Back: x.Node.IsBackward(), Exact: x.Exact, None: x.None,
		Total: number(x.Total), Size: number(x.Size), Count: x.Count, Parts: parts(x.Parts), Rows: parts(x.Rows)}
}

// positionOf is the position of an element in row-major order.
func positionOf(at []int, s graph.Shape) (p int) {
	for a, i := range at {
		p = p*s.Dim(a) + i
	}
	return p
}

// elementOf reads the indices of an element, one for each axis.
func elementOf(r *request, s graph.Shape) ([]int, error) {
	text := r.query.Get("at")
	if text == "" && s.Rank() > 0 {
		return nil, badf("at: want an index for each of %d axes, as in 17,0", s.Rank())
	}
	return indices(text, s)
}
