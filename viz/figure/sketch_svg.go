package figure

import (
	"context"
	"io"
	"math"
	"slices"
	"strconv"
)

// SVG writes s as a self-contained SVG document. It is an error if [Sketch.Validate] finds a
// mistake; nothing is written then.
func (s *Sketch) SVG(w io.Writer, opts ...Option) error {
	return s.SVGContext(context.Background(), w, opts...)
}

// SVGContext is SVG, stopped with the error of ctx once ctx is done.
func (s *Sketch) SVGContext(ctx context.Context, w io.Writer, opts ...Option) error {
	d, b, err := s.drawing(ctx, opts)
	if err != nil {
		return err
	}
	if w == nil {
		return errNoWriter
	}
	d.body(b)
	_, err = w.Write(slices.Concat(d.head(), d.Bytes()))
	return err
}

// Size returns the width and the height of the drawing without its texts, 0 if [Sketch.Validate]
// finds a mistake.
func (s *Sketch) Size() (w, h float64) {
	if s.Validate() != nil {
		return 0, 0
	}
	b, err := s.layout(context.Background())
	if err != nil {
		return 0, 0
	}
	return b.width, b.height
}

// A sketching collects the body of an SVG of a sketch.
type sketching struct {
	*drawing
	arrows int
}

// drawing lays a valid sketch out.
func (s *Sketch) drawing(ctx context.Context, opts []Option) (*sketching, *board, error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	f := &Figure{Title: s.Title, Desc: s.Desc}
	if f.Desc == "" {
		f.Desc = strconv.Itoa(len(s.Signs)) + " signs, " + strconv.Itoa(len(s.Arrows)) + " arrows"
	}
	o, err := f.options(opts)
	if err != nil {
		return nil, nil, err
	}
	b, err := s.layout(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &sketching{drawing: &drawing{figure: f, options: o, easel: easel{theme: o.theme}}}, b, nil
}

func (d *sketching) body(b *board) {
	s := b.sketch
	title := line(s.Title, 100)
	d.width = math.Ceil(max(b.width, TextWidth(title, 20)*boldFactor, 420) + 2*border)
	room := d.width - 2*border
	y := border
	if title != "" {
		d.text(border, y+16, 20, start, true, ink, title)
		y += 32
	}
	for _, l := range wrap(s.Subtitle, 12.5, room, 6) {
		d.text(border, y+8, 12.5, start, false, faint, l)
		y += 18
	}
	if y > border {
		y += 10
	}
	d.board(b, Point{border + (room-b.width)/2, y})
	y += b.height + 18
	for _, foot := range s.Footer {
		for _, l := range wrap(foot, 13, room, 4) {
			d.text(border, y+12, 13, start, false, ink, l)
			y += 20
		}
	}
	if d.options.legend {
		y = d.signLegend(s, y+6)
	}
	d.height = math.Ceil(y + border/2)
	d.put("</svg>\n")
}

// board draws arrows and signs, with the board's origin at a point.
func (d *sketching) board(b *board, at Point) {
	b.move(at)
	for l, name := range b.sketch.Levels {
		if i := b.levelHead(l); i >= 0 && b.label > 0 {
			d.text(at.X, b.places[i].at.Y+4, smallSize, start, true, faint, line(name, signLimit))
		}
	}
	for i := range b.places {
		if p := &b.places[i]; p.inner != nil {
			d.cell(b, i)
		}
	}
	for e, a := range b.sketch.Arrows {
		if !a.Hidden {
			d.arrow(b, e)
		}
	}
	for i := range b.places {
		p := &b.places[i]
		if p.inner != nil {
			d.board(p.inner, Point{p.at.X + p.innerTop.X, p.at.Y + p.innerTop.Y})
		} else {
			d.sign(b, i)
		}
	}
}

// levelHead returns the first sign of a level, or −1.
func (b *board) levelHead(l int) int {
	best := -1
	for i := range b.places {
		if b.sketch.Signs[i].Level == l && b.places[i].carrier < 0 && (best < 0 || b.places[i].at.X < b.places[best].at.X) {
			best = i
		}
	}
	return best
}

// move puts the origin of a board at a point.
func (b *board) move(by Point) {
	for i := range b.places {
		b.places[i].at.X += by.X
		b.places[i].at.Y += by.Y
	}
	for i := range b.stops {
		b.stops[i].y += by.Y
	}
	for c := range b.left {
		b.left[c], b.right[c] = b.left[c]+by.X, b.right[c]+by.X
	}
	for e := range b.arc {
		b.arc[e].y += by.Y
	}
}

// cell draws the border and the title of a sign with a sketch inside.
func (d *sketching) cell(b *board, i int) {
	p, n := &b.places[i], &b.sketch.Signs[i]
	box := Rect{p.at.X - p.w/2, p.at.Y - p.h/2, p.w, p.h}
	d.put(`<g class="sign cell" id="`, d.options.prefix, "s-", n.ID, `" role="img" aria-label="`, xmlText(n.title()), `"><title>`, xmlText(n.title()), "</title>",
		rectangle(box, 12, d.easel.attrs(module, lineOf(Op), "box")+` stroke-width="1.8"`))
	d.text(box.X+14, box.Y+17, cellSize, start, true, faint, line(n.Sub, subLimit))
	d.put("</g>\n")
}

// title returns the whole text of a sign.
func (n *Sign) title() string {
	s := n.Title
	if s == "" {
		for i, l := range n.Lines {
			if i > 0 {
				s += " "
			}
			s += l
		}
		if n.Sub != "" {
			s += " — " + n.Sub
		}
	}
	if n.Role != Op && n.Role != Reduce {
		s += " · " + roleTitles[n.Role]
	}
	return s
}

func (d *sketching) sign(b *board, i int) {
	p, n := &b.places[i], &b.sketch.Signs[i]
	box := Rect{p.at.X - p.w/2, p.at.Y - p.h/2, p.w, p.h}
	d.put(`<g class="sign role-`, n.Role.String(), `" id="`, d.options.prefix, "s-", n.ID, `" role="img" aria-label="`, xmlText(n.title()), `"><title>`, xmlText(n.title()), "</title>")
	fill, stroke := fillOf(n.Role), lineOf(n.Role)
	c := p.at
	switch n.Form {
	case Disc:
		ring := ringOf(n.Role)
		d.put(circle(c, p.w/2-ring, d.easel.attrs(fill, stroke, "box")+` stroke-width="1.8"`))
		if ring > 0 {
			d.put(circle(c, p.w/2, d.easel.attrs(none, stroke)+` stroke-width="1.2"`))
		}
		size := signSize
		if len(n.Lines) > 0 && TextWidth(n.Lines[0], 19) < discSize-10 {
			size = 19
		}
		for _, s := range n.Lines {
			d.text(c.X, c.Y+size*0.35, size, middle, false, ink, line(s, signLimit))
		}
	default:
		if n.Form == Boxed {
			d.put(shape(n.Role, box, d.easel.attrs(fill, stroke, "box")+` stroke-width="1.8"`, d.easel.attrs(none, stroke)+` stroke-width="1.2"`))
		}
		y := c.Y - lineHeight*float64(len(n.Lines)-1)/2 + 5
		if n.named() {
			y -= (smallLine - 2) / 2
		}
		for _, s := range n.Lines {
			d.text(c.X, y, signSize, middle, false, ink, line(s, signLimit))
			y += lineHeight
		}
		if n.named() {
			d.text(c.X, y-2, smallSize, middle, false, faint, line(n.Sub, subLimit))
		}
	}
	texts, grad := n.under()
	for k, s := range texts {
		paint := faint
		if k >= grad {
			paint = gradLine
		}
		y := box.Y + box.H + 3 + smallLine*float64(k) + 11
		if p.carrier >= 0 {
			y = box.Y - 6 - smallLine*float64(len(texts)-1-k)
		}
		d.text(c.X, y, smallSize, middle, false, paint, s)
	}
	d.put("</g>\n")
}

func circle(c Point, r float64, attrs string) string {
	return `<circle cx="` + num(c.X) + `" cy="` + num(c.Y) + `" r="` + num(r) + `"` + attrs + "/>"
}

// arrow draws an arrow, and beside it that of the derivative that flows back.
func (d *sketching) arrow(b *board, e int) {
	a := &b.sketch.Arrows[e]
	from, to := &b.sketch.Signs[b.from[e]], &b.sketch.Signs[b.to[e]]
	class, title := "arrow", from.name()+" → "+to.name()
	if a.Fold {
		class += " fold"
	}
	for _, more := range []string{a.Label, a.Title} {
		if more != "" {
			title += " · " + more
		}
	}
	put := func(class, title string, c course, k Kind) {
		style := kindLine[k]
		dash := ""
		if style.dash != "" {
			dash = ` stroke-dasharray="` + style.dash + `"`
		}
		d.put(`<g class="`, class, `" id="`, d.options.prefix, "a", strconv.Itoa(d.arrows), `"><title>`, xmlText(title), "</title>",
			`<path d="`, pathData(c), `"`, d.easel.attrs(none, style.paint), ` stroke-width="`, num(style.width), `"`, dash, "/>",
			arrowHead(c, d.easel.attrs(style.paint, none)), "</g>\n")
		d.arrows++
	}
	path := b.path(e, 0)
	put(class, title, path, Forward)
	if a.Grad {
		put("arrow grad", "derivative: "+to.name()+" → "+from.name(), back(b.path(e, returned)), Grad)
	}
	if label := line(a.Label, labelLimit); label != "" {
		c := b.labelPlace(path, e)
		w := TextWidth(label, smallSize)
		d.put(rectangle(Rect{c.X - w/2 - 4, c.Y - 8, w + 8, 16}, 3, d.easel.attrs(page, none)))
		d.text(c.X, c.Y+4, smallSize, middle, false, ink, label)
		d.put("\n")
	}
}

// labelPlace returns the middle of the highest or lowest part of a path.
func (b *board) labelPlace(path course, e int) Point {
	p, q := path[0], path.last()
	y := p.Y
	for _, at := range path {
		if b.arc[e].side > 0 {
			y = max(y, at.Y)
		} else {
			y = min(y, at.Y)
		}
	}
	return Point{(p.X + q.X) / 2, y}
}

// name returns what a sign is called in tooltips.
func (n *Sign) name() string {
	if n.Sub != "" {
		return n.Sub
	}
	if len(n.Lines) > 0 {
		return n.Lines[0]
	}
	return n.ID
}

// signLegend explains the signs and arrows that occur.
func (d *sketching) signLegend(s *Sketch, y float64) float64 {
	var role [roles]bool
	var boxed, grad, fold, inner bool
	var look func(s *Sketch)
	look = func(s *Sketch) {
		for i := range s.Signs {
			n := &s.Signs[i]
			switch {
			case n.Inner != nil:
				inner = true
				look(n.Inner)
			case n.Form == Bare:
			case n.Role == Op || n.Role == Reduce:
				boxed = true
			default:
				role[n.Role] = true
			}
		}
		for _, a := range s.Arrows {
			grad, fold = grad || a.Grad, fold || a.Fold
		}
	}
	look(s)
	items := d.roleItems(role)
	if boxed {
		items = append(items, legendItem{width: 40, text: "operation", draw: func(x, y float64) {
			d.put(circle(Point{x + 10, y}, 10, d.easel.attrs(fillOf(Op), lineOf(Op))+` stroke-width="1.8"`),
				rectangle(Rect{x + 22, y - 9, 18, 18}, 5, d.easel.attrs(fillOf(Op), lineOf(Op))+` stroke-width="1.8"`))
		}})
	}
	if inner {
		items = append(items, legendItem{width: 40, text: "loop: a step is inside", draw: func(x, y float64) {
			d.put(rectangle(Rect{x, y - 11, 40, 22}, 8, d.easel.attrs(module, lineOf(Op))+` stroke-width="1.8"`))
		}})
	}
	kinds := d.kindItems([kinds]bool{Forward: true, Grad: grad})
	kinds[0].text = "value, from left to right"
	if fold {
		kinds[0].text += "; folded back: to the next step"
	}
	if grad {
		kinds[1].text = "derivative of the loss, from right to left; ∂D is short for ∂loss/∂D"
	}
	d.put(`<g class="legend">`, "\n")
	d.rule(border, y, d.width-border, y)
	y += 24
	for _, group := range [][]legendItem{items, kinds} {
		x := border + 8
		for _, it := range group {
			wide := it.width + 9 + TextWidth(it.text, legendSize)
			if x > border+8 && x+wide > d.width-border {
				x = border + 8
				y += 30
			}
			it.draw(x, y)
			d.text(x+it.width+9, y+4, legendSize, start, false, ink, it.text)
			d.put("\n")
			x += wide + 26
		}
		y += 34
	}
	d.put("</g>\n")
	return y - 16
}
