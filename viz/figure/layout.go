package figure

import (
	"context"
	"errors"
	"math"
)

// A Point is a position in pixels, y downwards.
type Point struct{ X, Y float64 }

// A Rect is a box by its top left corner and size, in pixels. The zero value
// stands for "none".
type Rect struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// Overlaps reports whether r and s share more than a border.
func (r Rect) Overlaps(s Rect) bool {
	return r.X < s.X+s.W && s.X < r.X+r.W && r.Y < s.Y+s.H && s.Y < r.Y+r.H
}

// Contains reports whether s is inside r.
func (r Rect) Contains(s Rect) bool {
	return r.X <= s.X && s.X+s.W <= r.X+r.W && r.Y <= s.Y && s.Y+s.H <= r.Y+r.H
}

// Centre returns the middle of r.
func (r Rect) Centre() Point { return Point{r.X + r.W/2, r.Y + r.H/2} }

// A Layout is the geometry of a Figure, one drawing per panel.
type Layout struct {
	Panels []PanelLayout
}

// A PanelLayout is the geometry of one panel, relative to its own origin. Nodes and modules that
// two panels share have the same place in both.
type PanelLayout struct {
	Width, Height float64
	Nodes         []NodeBox   // in the order of Figure.Nodes
	Edges         []EdgePath  // in the order of Figure.Edges
	Modules       []ModuleBox // outer before inner
}

// A NodeBox is the place of a node.
type NodeBox struct {
	Node int // position in Figure.Nodes
	Row  int // 0 is the top
	Rect
}

// An EdgePath is the path of an edge.
type EdgePath struct {
	Edge  int     // position in Figure.Edges
	Path  []Point // cubic Bézier pieces: the start, then two controls and an end for each piece
	Label Rect    // the background of the label; zero if there is none
}

// A ModuleBox is the box around a module.
type ModuleBox struct {
	Path     string
	Title    string
	Backward bool
	Own      bool // every node in it belongs to this panel only
	Plate    Rect // behind the title
	Copies   []string
	Rect
}

const (
	margin  = 10 // around a panel
	textGap = 4  // from a box's border to the plate of its title
)

// Layout computes the geometry of f. Its error is that of [Figure.Validate], of the options, or
// of ctx. Of the options only Near and Placed have an effect.
func (f *Figure) Layout(ctx context.Context, opts ...Option) (*Layout, error) {
	o, err := f.options(opts)
	if err != nil {
		return nil, err
	}
	return f.layout(ctx, o)
}

func (f *Figure) layout(ctx context.Context, o options) (*Layout, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if o.placed != nil {
		return o.placed, f.fits(o.placed)
	}
	s := newScene(f)
	if err := s.orderRows(ctx); err != nil {
		return nil, err
	}
	if o.steady {
		if err := s.steady(ctx, o.near); err != nil {
			return nil, err
		}
	}
	if err := s.position(ctx); err != nil {
		return nil, err
	}
	g := s.newGrid()
	l := &Layout{}
	for p := range f.panels() {
		panel, err := g.panel(ctx, p)
		if err != nil {
			return nil, err
		}
		l.Panels = append(l.Panels, panel)
	}
	return l, nil
}

// fits complains of a layout of another figure.
func (f *Figure) fits(l *Layout) error {
	ok := len(l.Panels) == f.panels()
	for _, p := range l.Panels {
		for _, b := range p.Nodes {
			ok = ok && b.Node >= 0 && b.Node < len(f.Nodes)
		}
		for _, e := range p.Edges {
			ok = ok && e.Edge >= 0 && e.Edge < len(f.Edges) && len(e.Path) > 0
		}
	}
	if !ok {
		return errors.New("figure: the layout is of another figure")
	}
	return nil
}

// position gives items and boxes their final x, in whole pixels from 0.
func (s *scene) position(ctx context.Context) error {
	p := s.newPlacement()
	if err := p.settle(ctx, 40); err != nil {
		return err
	}
	if err := p.straighten(ctx); err != nil {
		return err
	}
	steps := 600
	if len(s.item) > 600 {
		steps = 120
	}
	if err := p.settle(ctx, steps); err != nil {
		return err
	}
	p.compact()
	for i := range s.item {
		s.item[i].x = math.Round(s.item[i].x)
	}
	s.tighten()
	s.closeUp()
	return nil
}

// tighten draws boxes close around their contents; the placement left them room to spare.
func (s *scene) tighten() {
	bound := make([]box, len(s.box))
	copy(bound, s.box)
	for b := range s.box {
		s.box[b].left, s.box[b].right = math.Inf(1), math.Inf(-1)
	}
	for i := range s.item {
		it := &s.item[i]
		k := &s.box[it.inside[len(it.inside)-1]]
		pad := s.boxPad
		if k.parent < 0 {
			pad = 0
		}
		k.left, k.right = min(k.left, it.x-it.half-pad), max(k.right, it.x+it.half+pad)
	}
	for b := len(s.box) - 1; b > backwardColumn; b-- {
		k := &s.box[b]
		if lack := s.titleRoom(b) - (k.right - k.left); lack > 0 {
			grow := min(lack, max(0, math.Floor(bound[b].right-k.right)))
			k.right += grow
			k.left -= lack - grow
		}
		k.left, k.right = math.Floor(k.left), math.Ceil(k.right)
		up := &s.box[k.parent]
		pad := s.boxPad
		if up.parent < 0 {
			pad = 0
		}
		up.left, up.right = min(up.left, k.left-pad), max(up.right, k.right+pad)
	}
}

// titleRoom returns the least width of a box for its title.
func (s *scene) titleRoom(b int) float64 {
	wide := max(TextWidth(s.box[b].title[0], s.measures.title), TextWidth(s.box[b].title[1], s.measures.title))
	return math.Ceil(wide*boldFactor) + 2*s.boxPad
}

// closeUp shifts the columns to 0, and to one gutter after the first.
func (s *scene) closeUp() {
	gutter := 0.0
	for e := range s.from {
		if s.figure.Nodes[s.from[e]].Backward != s.figure.Nodes[s.to[e]].Backward {
			gutter = max(gutter, gutterGap, labelWidth(line(s.figure.Edges[e].longest(), labelLimit))+24)
		}
	}
	gutter = max(gutter, gutterGap/2)
	at := 0.0
	for column := forwardColumn; column <= backwardColumn; column++ {
		k := &s.box[column]
		if k.left > k.right { // the column is empty
			k.left, k.right = at, at
			continue
		}
		shift := at - k.left
		for i := range s.item {
			if s.item[i].inside[0] == column {
				s.item[i].x += shift
			}
		}
		for b := range s.box {
			if b == column || b > backwardColumn && s.box[b].backward == (column == backwardColumn) {
				s.box[b].left += shift
				s.box[b].right += shift
			}
		}
		at = k.right + math.Ceil(gutter)
	}
}
