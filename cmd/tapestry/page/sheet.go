package page

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// sheetView is a drawing in parts, with what the page adds.
type sheetView struct {
	*figure.Sheet
	Items   []itemView   `json:"items"`
	Modules []moduleView `json:"modules"` // of the model, open or closed
	Folded  []string     `json:"folded"`  // paths of those that are closed
	Scale   string       `json:"scale"`   // what the colours of the overlay mean; "" for none
	Step    int          `json:"step"`    // the state that the overlay shows
}

// itemView is an item of a drawing, with the part of the model that it stands for.
type itemView struct {
	figure.Item
	Node    string `json:"node,omitempty"`    // id of the node, or of the module
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
}

func drawingOf(r *http.Request, docs ...*document) (q drawing, err error) {
	if q.level, err = levelOf(r); err != nil {
		return q, err
	}
	if q.gradients, err = yesNo(r, "grad"); err != nil {
		return q, err
	}
	if q.step, err = stepOf(r, docs...); err != nil {
		return q, err
	}
	q.open, q.closed, q.overlay = list(r, "open"), list(r, "closed"), r.URL.Query().Get("overlay")
	if q.overlay == "none" {
		q.overlay = ""
	}
	if _, known := overlays[q.overlay]; q.overlay != "" && !known {
		return q, badf("overlay=%.40s: want none, %s", q.overlay, overlayNames())
	}
	return q, nil
}

// draw makes the figure, and returns the meaning of its colours as scale.
func (d *document) draw(ctx context.Context, q drawing) (f *figure.Figure, v *variant, scale string, err error) {
	if v, err = d.at(ctx, q.level); err != nil {
		return nil, nil, "", err
	}
	fed, err := d.session.feeder.scalarsAt(q.step, v.graph())
	if err != nil {
		return nil, nil, "", err
	}
	options := []viz.Option{viz.At(q.level), viz.Fed(fed), viz.DenseAbove(-1)} // the window moves over a large drawing
	opened, err := d.opened(ctx, v, q)
	if err != nil {
		return nil, nil, "", err
	}
	options = append(options, opened...)
	if q.overlay != "" {
		var l layer
		boxes, err := viz.Contents(v.drawn(q.gradients), options...)
		if err != nil {
			return nil, nil, "", err
		}
		if l, err = overlays[q.overlay](ctx, d, v, q.step, boxes); err != nil {
			return nil, nil, "", err
		}
		scale = paint(l)
		options = append(options, viz.Overlay(l.marks), viz.HeatScale(scale))
	}
	f, err = viz.DrawContext(ctx, v.drawn(q.gradients), options...)
	return f, v, scale, err
}

func (s *Server) sheet(r *http.Request, d *document) (any, error) {
	q, err := drawingOf(r, d)
	if err != nil {
		return nil, err
	}
	f, v, scale, err := d.draw(r.Context(), q)
	if err != nil {
		return nil, err
	}
	return newSheet(r.Context(), f, scale, q.step, func(panel int, id string) (string, *variant) {
		if id[0] == asWritten { // as drawings of all variants call their nodes
			return string(v.kind) + id[1:], v
		}
		if loop, _, ok := strings.Cut(id, "-"); ok && id[0] == ofStep {
			return string(v.kind) + loop[1:], v // in the step of a loop: the loop
		}
		return "", v
	})
}

// newSheet lays a figure out and links each item to the model. node returns the id of the node that
// an item stands for in a panel, and the variant.
func newSheet(ctx context.Context, f *figure.Figure, scale string, step int, node func(panel int, id string) (string, *variant)) (*sheetView, error) {
	sheet, err := f.Sheet(ctx)
	if err != nil {
		return nil, err
	}
	out := &sheetView{Sheet: sheet, Items: make([]itemView, 0, len(sheet.Items)), Modules: []moduleView{}, Folded: []string{}, Scale: scale, Step: step}
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
			v.Label, v.Role, v.Partner = n.Main, n.Role.String(), twin[item.ID]
			p := max(item.Panel, 1) - 1
			if n.PanelMain[p] != "" {
				v.Label = n.PanelMain[p]
			}
			if r := n.PanelRole[p]; r != nil {
				v.Role = r.String()
			}
			if v.Node, _ = node(item.Panel, item.ID); v.Node == "" {
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
func (s *Server) svg(r *http.Request, d *document) (any, error) {
	q, err := drawingOf(r, d)
	if err != nil {
		return nil, err
	}
	f, _, _, err := d.draw(r.Context(), q)
	if err != nil {
		return nil, err
	}
	return s.write(svgType, d.model.Builder.Name+".svg", func(w io.Writer) error { return f.SVGContext(r.Context(), w) })
}
