package figure

import (
	"context"
	"math"
	"strings"
)

// A Sheet is a drawing in parts, for a viewer that shows only what is in its window. Put the SVG
// of the items, in their order, into
//
//	<svg class="tapestry tapestry-auto" viewBox="0 0 Width Height">
//
// beside a style element with Style, and it is the drawing that [Figure.SVG] writes, without
// title, footer and legend, which are texts of their own here.
type Sheet struct {
	Width    float64  `json:"width"` // in pixels, as all lengths
	Height   float64  `json:"height"`
	Title    string   `json:"title"`
	Subtitle string   `json:"subtitle,omitempty"`
	Desc     string   `json:"desc"`             // one sentence for readers who cannot see the drawing
	Footer   []string `json:"footer,omitempty"` // lines of text for below the drawing
	Font     string   `json:"font"`             // the font-family of all text
	Page     string   `json:"page"`             // the colour behind the items; in theme Auto, of class f-page
	// Style makes the items dark: in an element of class tapestry-auto where the
	// reader prefers dark, in one of class tapestry-dark always. It is empty unless
	// the theme is Auto.
	Style  string `json:"style,omitempty"`
	Defs   string `json:"defs,omitempty"` // elements for <defs> that items refer to
	Items  []Item `json:"items"`          // in drawing order, later above earlier
	Legend string `json:"legend,omitempty"`
}

// An Item is one thing to see on a Sheet.
type Item struct {
	// Kind is node, edge, module (the box around one), or a text beside these: the label of an edge,
	// the plate with the title of a module, the heading of a panel; or the rule between panels.
	Kind string `json:"kind"`
	// ID identifies a thing in all drawings of a model, whatever is open or closed in them: Node.ID
	// for a node, ModuleID for a module and its plate, and the two ends for an edge and its label,
	// as "n1>n2".
	ID       string `json:"id,omitempty"`
	Panel    int    `json:"panel,omitempty"`  // 1 or 2
	Module   string `json:"module,omitempty"` // the path of a module, or of that around a node
	Backward bool   `json:"backward,omitempty"`
	From     string `json:"from,omitempty"` // the nodes that an edge joins
	To       string `json:"to,omitempty"`
	// Closed is the path of the closed module that a node stands for; expand it to open the module.
	// Copies lists the paths of repeated modules that a node, or a module and its plate, stands for;
	// each can be expanded by itself.
	Closed string   `json:"closed,omitempty"`
	Copies []string `json:"copies,omitempty"`
	Row    string   `json:"row,omitempty"` // the node in whose row a node is drawn: the value of a derivative
	Box    Rect     `json:"box"`           // on the sheet, including the width of its lines
	SVG    string   `json:"svg"`           // one element
}

// Sheet returns the drawing that SVG writes, in parts. The options are those of SVG; element ids
// in it have the prefix and are unique. Its error is that of [Figure.Validate], of the options,
// or of ctx.
func (f *Figure) Sheet(ctx context.Context, opts ...Option) (*Sheet, error) {
	o, err := f.options(opts)
	if err != nil {
		return nil, err
	}
	l, err := f.layout(ctx, o)
	if err != nil {
		return nil, err
	}
	d := newDrawing(f, l, o)
	s := &Sheet{Title: Linear(Clean(f.Title)), Subtitle: Linear(Clean(f.Subtitle)), Desc: Linear(Clean(f.describe())), Font: font, Items: []Item{}}
	for _, t := range f.Footer {
		s.Footer = append(s.Footer, Linear(Clean(t)))
	}
	d.sheet = s
	shown, wide := d.columns()
	s.Width = math.Ceil(max(wide, 0) + 2*border)
	s.Height = math.Ceil(d.panels(border, shown) + border)
	s.Legend = d.legendAlone(min(max(s.Width, legendLeast), legendMost), shown)
	d.easel.attrs(page, none) // the viewer paints the page
	s.Page = d.easel.value(page)
	if f.Overlay {
		d.easel.useMarks() // so that the marks of another step find their colours
	}
	if o.theme == Auto && !o.nodes {
		s.Style = d.easel.preferred() + d.easel.dark(darkClass)
	}
	return s, nil
}

// Widths of a legend by itself.
const (
	legendLeast = 480
	legendMost  = 1000
)

// legendAlone returns the legend as a document of the given width; "" if there is none.
func (d *drawing) legendAlone(width float64, shown []int) string {
	if !d.options.legend {
		return ""
	}
	d.Reset()
	d.width = width
	end := d.legend(0, shown)
	if d.Len() == 0 {
		return ""
	}
	w, h := num(width), num(math.Ceil(end+border/2))
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ` + w + " " + h + `" width="` + w + `" height="` + h + `" font-family="` + font + `">` + "\n" + d.String() + "</svg>"
}

// item draws one thing. If a sheet is made, the thing becomes an item of it, moved from the panel
// to its place there.
func (d *drawing) item(it Item, draw func()) {
	if d.sheet != nil && d.options.nodes && it.Kind != "node" {
		return
	}
	draw()
	if d.sheet == nil {
		return
	}
	it.SVG = strings.TrimSpace(d.String())
	if d.origin != (Point{}) || it.Kind == "heading" { // a heading is two elements
		it.SVG = "<g" + d.shift() + ">" + it.SVG + "</g>"
	}
	it.Box = Rect{tenth(it.Box.X + d.origin.X), tenth(it.Box.Y + d.origin.Y), tenth(it.Box.W), tenth(it.Box.H)}
	d.sheet.Items = append(d.sheet.Items, it)
	d.Reset()
}

func tenth(v float64) float64 { return math.Round(v*10) / 10 }

func (m *ModuleBox) item(kind string, p int, box Rect) Item {
	if len(m.Copies) > 1 && kind == "module" {
		box = behind(box)
	}
	return Item{Kind: kind, ID: ModuleID(m.Path, m.Backward), Panel: p + 1, Module: m.Path, Backward: m.Backward, Copies: m.Copies, Box: box}
}

func (d *drawing) edgeItem(kind string, p int, l EdgePath, box Rect) Item {
	e := &d.figure.Edges[l.Edge]
	return Item{Kind: kind, ID: e.From + ">" + e.To, Panel: p + 1, From: e.From, To: e.To, Backward: e.Kind != Forward, Box: box}
}

func (d *drawing) nodeItem(p int, l NodeBox) Item {
	n := &d.figure.Nodes[l.Node]
	return Item{Kind: "node", ID: n.ID, Panel: p + 1, Module: n.Module, Backward: n.Backward, Closed: n.Closed, Copies: n.Copies, Row: n.Row, Box: d.bounds(p, l)}
}

// bounds returns the area that a node covers with its lines and the marks at its corners.
func (d *drawing) bounds(p int, l NodeBox) Rect {
	n := d.figure.Nodes[l.Node].marked(p)
	b := grow(l.Rect, 2)
	if len(n.Copies) > 1 {
		b = behind(b)
	}
	if n.Alarm != NoAlarm {
		b = union(b, Rect{l.X - 5, l.Y - 8, 16, 16})
	}
	if d.figure.comparing() && n.Status[p] > Shared || n.Badge != "" {
		b = union(b, Rect{l.X, l.Y - 10, l.W + 8, 10})
		if badge := line(n.Badge, badgeLimit); badge != "" { // it may be wider than its node
			w := badgeWidth(badge) + 16
			b = union(b, Rect{l.X + l.W - w, l.Y, w, 0})
		}
	}
	return b
}

// behind extends a box by the sheets behind it.
func behind(b Rect) Rect { return Rect{b.X, b.Y - 2*stacked, b.W + 2*stacked, b.H + 2*stacked} }

// bounds returns the area that an edge covers, with its head. A curve is within its controls.
func (e *EdgePath) bounds() Rect {
	b := Rect{e.Path[0].X, e.Path[0].Y, 0, 0}
	for _, p := range e.Path[1:] {
		b = union(b, Rect{p.X, p.Y, 0, 0})
	}
	return grow(b, headHalf+1)
}

// union returns the smallest rectangle around two.
func union(a, b Rect) Rect {
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return Rect{x, y, max(a.X+a.W, b.X+b.W) - x, max(a.Y+a.H, b.Y+b.H) - y}
}

// ModuleID names the module at a path, in the column of values or of gradients, in characters
// allowed in ids; no two modules have the same name. A node that stands for a closed module has
// it as its ID, so that a viewer finds the module again when it is open.
func ModuleID(path string, backward bool) string {
	const digits = "0123456789abcdef"
	b := []byte("m-")
	if backward {
		b = []byte("d-")
	}
	for _, c := range []byte(path) {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			b = append(b, c)
		case c == '/':
			b = append(b, '-')
		default:
			b = append(b, '_', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}
