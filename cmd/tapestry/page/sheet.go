package page

import (
	"context"
	"io"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// sheetView is a drawing in parts, with what the page adds.
type sheetView struct {
	*figure.Sheet
	Items   []itemView   `json:"items"`
	Modules []moduleView `json:"modules"` // of the model, open or closed
	Folded  []string     `json:"folded"`  // paths of those that are closed
	Loops   []loopView   `json:"loops"`   // whose steps are drawn
	Scale   string       `json:"scale"`   // what the colours of the overlay mean; "" for none
	Step    int          `json:"step"`    // the state that the overlay shows
	Kept    string       `json:"kept"`    // names what stays of it at another step: a request with it gets a [repaintedView]
}

// itemView is an item of a drawing, with the part of the model that it stands for.
type itemView struct {
	figure.Item
	Node    string `json:"node,omitempty"`    // id of the node, or of the module
	Loop    string `json:"loop,omitempty"`    // of a node in the step of loops, the outermost of them
	Partner string `json:"partner,omitempty"` // item of the derivative of this value, or the value of this derivative
	Label   string `json:"label,omitempty"`   // as text
	Role    string `json:"role,omitempty"`
	Path    string `json:"path,omitempty"` // of a module, open or closed
}

type moduleView struct {
	Path  string `json:"path"`
	ID    string `json:"id"`   // of its box among the values
	Back  string `json:"back"` // and among the derivatives
	Open  bool   `json:"open"`
	Nodes int    `json:"nodes"`
}

// drawing describes the drawing of one model that a request asks for.
type drawing struct {
	level     viz.Level
	gradients bool
	open      []string // paths of modules; "*" for all
	closed    []string
	overlay   string
	step      int
	times     map[string]int // of loops, by the paths of their modules
}

func drawingOf(r *request, docs ...*document) (q drawing, err error) {
	if q.level, err = levelOf(r); err != nil {
		return q, err
	}
	if q.gradients, err = yesNo(r, "grad"); err != nil {
		return q, err
	}
	if q.step, err = stepOf(r, docs...); err != nil {
		return q, err
	}
	if q.times, err = timesOf(r); err != nil {
		return q, err
	}
	q.open, q.closed, q.overlay = list(r, "open"), list(r, "closed"), r.query.Get("overlay")
	if q.overlay == "none" {
		q.overlay = ""
	}
	if _, known := overlays[q.overlay]; q.overlay != "" && !known {
		return q, badf("overlay=%.40s: want none, %s", q.overlay, overlayNames())
	}
	return q, nil
}

// painted is a drawing of a variant with its overlay.
type painted struct {
	*figure.Figure
	of    *variant
	plan  *planned
	scale string // what the colours mean
}

func (d *document) draw(ctx context.Context, q drawing) (*painted, error) {
	v, err := d.at(ctx, q.level)
	if err != nil {
		return nil, err
	}
	p, err := d.plan(ctx, v, q)
	if err != nil {
		return nil, err
	}
	out := &painted{of: v, plan: p}
	var l layer
	if q.overlay != "" {
		if l, err = overlays[q.overlay](ctx, d, v, q.step, p.boxes); err != nil {
			return nil, err
		}
		if l.marks == nil {
			l.marks = map[*graph.Node]viz.Mark{}
		}
		if err := d.openSteps(ctx, v, q, p, &l); err != nil {
			return nil, err
		}
		out.scale = paint(l)
	}
	out.Figure = p.plan.Figure(l.marks, out.scale)
	l.steps.put(out.Figure)
	return out, nil
}

func (s *Service) sheet(r *request, d *document) (any, error) {
	q, err := drawingOf(r, d)
	if err != nil {
		return nil, err
	}
	f, err := d.draw(r.ctx, q)
	if err != nil {
		return nil, err
	}
	if f.plan.stills.has(r, q) {
		return repaint(r.ctx, f.Figure, f.plan.layout, f.scale, q.step, r.query.Get("kept"))
	}
	out, err := newSheet(r.ctx, f.Figure, f.scale, q.step, func(panel int, id string) (string, *variant) {
		if id[0] == asWritten { // as drawings of all variants call their nodes
			return string(f.of.kind) + id[1:], f.of
		}
		return "", f.of
	}, figure.Placed(f.plan.layout))
	if err != nil {
		return nil, err
	}
	if err := d.putTimes(out, q); err != nil {
		return nil, err
	}
	return out, f.plan.stills.name(q, out)
}

// putTimes says of the boxes in the steps of loops of which loop, and at which time, they are.
func (d *document) putTimes(s *sheetView, q drawing) error {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind != "node" || it.ID[0] != ofStep {
			continue
		}
		boxes, err := d.stepBoxes()
		if err != nil {
			return err
		}
		b := boxes[it.ID]
		if b == nil {
			continue
		}
		n := at(b, q.times)
		it.Node, it.Loop = n.id(), d.asWritten.id(n.Loops[0])
		for k, loop := range n.Loops {
			v := loopView{n.Paths[k], stepsOf(loop), n.times[k]}
			if v.Steps > 1 && !slices.Contains(s.Loops, v) {
				s.Loops = append(s.Loops, v)
			}
		}
	}
	return nil
}

// newSheet lays a figure out, unless it is placed, and links each item to the model. node returns
// the id of the node that an item stands for in a panel, and the variant.
func newSheet(ctx context.Context, f *figure.Figure, scale string, step int, node func(panel int, id string) (string, *variant), placed ...figure.Option) (*sheetView, error) {
	sheet, err := f.Sheet(ctx, placed...)
	if err != nil {
		return nil, err
	}
	out := &sheetView{Sheet: sheet, Items: make([]itemView, 0, len(sheet.Items)), Modules: []moduleView{}, Folded: []string{}, Loops: []loopView{}, Scale: scale, Step: step}
	boxes, twin := map[string]*figure.Node{}, map[string]string{}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		boxes[n.ID] = n
		if n.Row != "" {
			twin[n.ID] = n.Row
			if twin[n.Row] == "" {
				twin[n.Row] = n.ID
			}
		}
	}
	_, model := node(1, "?")
	paths, members := model.modules()
	shown := map[string]bool{}
	for _, item := range sheet.Items {
		v := itemView{Item: item}
		switch item.Kind {
		case "node":
			n := boxes[item.ID]
			v.Label, v.Role, v.Partner = figure.Linear(n.Main), n.Role.String(), twin[item.ID]
			p := max(item.Panel, 1) - 1
			if n.PanelMain[p] != "" {
				v.Label = figure.Linear(n.PanelMain[p])
			}
			if r := n.PanelRole[p]; r != nil {
				v.Role = r.String()
			}
			if v.Node, _ = node(item.Panel, item.ID); v.Node == "" && item.ID[0] != ofStep {
				v.Path = item.Closed
				if len(members[v.Path]) == 0 && len(item.Copies) > 0 {
					v.Path = item.Copies[0] // of blocks that are drawn once, the first
				}
				v.Node = figure.ModuleID(v.Path, item.Backward)
				out.Folded = append(out.Folded, v.Path)
			}
		case "module", "plate":
			v.Node, v.Path = item.ID, item.Module
			shown[item.Module] = true
			for _, p := range item.Copies {
				shown[p] = true
			}
		}
		out.Items = append(out.Items, v)
	}
	slices.Sort(out.Folded)
	out.Folded = slices.Compact(out.Folded)
	for _, p := range paths {
		out.Modules = append(out.Modules, moduleView{p, figure.ModuleID(p, false), figure.ModuleID(p, true), shown[p], len(members[p])})
	}
	return out, nil
}

// svg answers with the drawing as a file.
func (s *Service) svg(r *request, d *document) (any, error) {
	q, err := drawingOf(r, d)
	if err != nil {
		return nil, err
	}
	f, err := d.draw(r.ctx, q)
	if err != nil {
		return nil, err
	}
	return s.write(svgType, d.model.Builder.Name+".svg", func(w io.Writer) error { return f.SVGContext(r.ctx, w, figure.Placed(f.plan.layout)) })
}
