package page

import (
	"context"
	"fmt"
	"html"
	"io"
	"maps"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// compareView is the aligned drawing of two documents.
type compareView struct {
	sheetView
	Sentence string       `json:"sentence"` // what is the same and what differs
	Summary  string       `json:"summary"`  // in numbers
	Matching string       `json:"matching"` // how boxes are matched
	Text     string       `json:"text"`     // one line per node
	Identity *formulaView `json:"identity"` // the difference as mathematics, where it is known
	Words    string       `json:"words"`
	A        string       `json:"a"`
	B        string       `json:"b"`
}

// Difference returns an identity that relates two objectives, and its meaning in words. The
// identity is nil if none is known.
func Difference(a, b string) (identity *viz.Equation, words string) {
	soft, goofy := "kmeans-softmax", "kmeans-goofy"
	if !(a == soft && b == goofy || a == goofy && b == soft) {
		return nil, ""
	}
	i, j := "i", "j"
	α, r := expr.Sym("α", i, j), expr.Sym("r", j)
	x, expected := expr.Sym("x", i), expr.Sym("r̂", i)
	over := []string{j}
	identity = &viz.Equation{
		Left:  expr.Big("Σ", over, α.Times(expr.Norm2(x.Minus(r)))),
		Right: expr.Norm2(x.Minus(expected)).Plus(expr.Big("Σ", over, α.Times(expr.Norm2(r.Minus(expected))))),
	}
	return identity, "Because the α of a point sum to 1, soft k-means is the goofy objective plus the α-weighted spread of the centres around the expected centre r̂. The goofy objective does not ask for that spread to be small: it is content where a mixture of far centres meets the point."
}

// pair finds the two documents of a request.
func (s *Service) pair(r *request) (a, b *document, err error) {
	if a, err = s.shelf.find(r.query.Get("a")); err != nil {
		return nil, nil, err
	}
	b, err = s.shelf.find(r.query.Get("b"))
	return a, b, err
}

func (s *Service) compare(r *request) (v any, err error) {
	a, b, err := s.pair(r)
	if err != nil {
		return nil, err
	}
	err = s.use(r.ctx, func() error {
		c, m, scale, err := paired(r.ctx, r, a, b)
		if err != nil {
			return err
		}
		if !m.stills.has(r, c.drawing) {
			v, err = c.view(r.ctx, m, scale)
			return err
		}
		f, err := m.diff.FigureContext(r.ctx)
		if err == nil {
			v, err = repaint(r.ctx, f, m.layout, scale, c.step, r.query.Get("kept"))
		}
		return err
	}, a, b)
	return v, err
}

// paired finds the difference of two documents, and marks it with its overlay.
func paired(ctx context.Context, r *request, a, b *document) (c comparison, m *pairing, scale string, err error) {
	q, err := drawingOf(r, a, b)
	if err != nil {
		return c, nil, "", err
	}
	if c, err = newComparison(ctx, q, a, b); err != nil {
		return c, nil, "", err
	}
	if m, err = c.pairing(ctx); err != nil {
		return c, nil, "", err
	}
	scale, err = c.overlay(ctx, m.diff)
	return c, m, scale, err
}

// view draws the difference.
func (c comparison) view(ctx context.Context, m *pairing, scale string) (*compareView, error) {
	sheet, err := c.sheet(ctx, m, scale)
	if err != nil {
		return nil, err
	}
	diff := m.diff
	out := &compareView{Sentence: diff.Sentence(), Summary: diff.Summary(), Matching: diff.Matching(), Text: m.text, A: c.docs[0].id, B: c.docs[1].id}
	identity, words := Difference(c.docs[0].model.Builder.Name, c.docs[1].model.Builder.Name)
	if identity != nil {
		out.Identity, out.Words = newFormula(*identity), words
	}
	err = m.stills.name(c.drawing, sheet, *out)
	out.sheetView = *sheet
	return out, err
}

// comparison holds the two documents of a comparison, and how to draw them.
type comparison struct {
	drawing
	docs [2]*document
	at   [2]*variant
}

func newComparison(ctx context.Context, q drawing, docs ...*document) (c comparison, err error) {
	c.drawing = q
	for i, d := range docs {
		c.docs[i] = d
		if c.at[i], err = d.at(ctx, q.level); err != nil {
			return c, err
		}
	}
	return c, nil
}

// pairing is a comparison without its overlay. Training changes nothing of it but the numbers that
// are fed.
type pairing struct {
	at        [2]*variant
	level     viz.Level
	gradients bool
	fed       map[*graph.Node]float64
	diff      *viz.Difference
	boxes     map[string]viz.Pair
	text      string
	layout    *figure.Layout
	stills    stills
}

// pairing compares the documents. All modules are open, as aligned drawings cannot close them, and
// parameters have boxes of their own, to be read like others. The first document keeps its last
// comparison.
func (c comparison) pairing(ctx context.Context) (*pairing, error) {
	fed := map[*graph.Node]float64{}
	for i, d := range c.docs {
		own, err := d.fedTo(c.at[i], c.step)
		if err != nil {
			return nil, err
		}
		maps.Copy(fed, own)
	}
	if m := c.docs[0].paired; m != nil && m.at == c.at && m.level == c.level && m.gradients == c.gradients && maps.Equal(m.fed, fed) {
		return m, nil
	}
	m := &pairing{at: c.at, level: c.level, gradients: c.gradients, fed: fed, stills: stills{}}
	var err error
	if m.diff, err = viz.DiffContext(ctx, c.at[0].drawn(c.gradients), c.at[1].drawn(c.gradients),
		viz.Fed(fed), viz.At(c.level), viz.Parameters(viz.ParamsApart), viz.Panels(titleAmong(c.docs[0], c.docs[:]), titleAmong(c.docs[1], c.docs[:]))); err != nil {
		return nil, err
	}
	if m.text, err = m.diff.TextContext(ctx); err != nil {
		return nil, err
	}
	f, err := m.diff.FigureContext(ctx)
	if err != nil {
		return nil, err
	}
	if m.layout, err = f.Layout(ctx); err != nil {
		return nil, err
	}
	m.boxes = m.diff.Boxes()
	c.docs[0].paired = m
	return m, nil
}

// sheet draws the comparison with the overlay that it has.
func (c comparison) sheet(ctx context.Context, m *pairing, scale string) (*sheetView, error) {
	f, err := m.diff.FigureContext(ctx)
	if err != nil {
		return nil, err
	}
	sheet, err := newSheet(ctx, f, scale, c.step, func(panel int, id string) (string, *variant) {
		if panel == 2 {
			return c.at[1].id(m.boxes[id].B), c.at[1]
		}
		return c.at[0].id(m.boxes[id].A), c.at[0]
	}, figure.Placed(m.layout))
	if err != nil {
		return nil, err
	}
	for i := range sheet.Items { // a module of the drawing is a scope of another name on each side
		if item := &sheet.Items[i]; item.Kind == "module" || item.Kind == "plate" {
			item.Path = m.diff.ScopeOf(max(item.Panel, 1)-1, item.Path)
			item.Node = figure.ModuleID(item.Path, item.Backward)
		}
	}
	return sheet, nil
}

// overlay marks the two sides, each with its own, coloured by one scale, and returns the meaning of
// the colours; "" without an overlay.
func (c comparison) overlay(ctx context.Context, diff *viz.Difference) (scale string, err error) {
	if c.drawing.overlay == "" {
		diff.Mark(nil, "")
		return "", nil
	}
	var layers [2]layer
	for i, d := range c.docs {
		if layers[i], err = overlays[c.drawing.overlay](ctx, d, c.at[i], c.step, diff.Contents(i)); err != nil {
			return "", err
		}
	}
	scale = paint(layers[:]...)
	marks := map[*graph.Node]viz.Mark{}
	for _, l := range layers {
		maps.Copy(marks, l.marks)
	}
	diff.Mark(marks, scale)
	return scale, nil
}

// chartsView are the courses of several documents.
type chartsView struct {
	Charts  []string     `json:"charts"`  // SVG; comparable courses share an axis, others have a chart each
	Note    string       `json:"note"`    // why the charts are split or joined
	Figures []figureView `json:"figures"` // at the step that is shown
}

// figureView holds the figures of a document at a step.
type figureView struct {
	Doc     string  `json:"doc"`
	Name    string  `json:"name"`
	Loss    *number `json:"loss"`              // null of a model that is not trained
	Inertia *number `json:"inertia,omitempty"` // of clusterings of the same data
}

// compareCharts draws the courses of several documents: the inertia of clusterings of the
// same data, the losses on one axis if they measure the same quantity, or else each by itself.
func (s *Service) compareCharts(r *request) (v any, err error) {
	var docs []*document
	for _, id := range list(r, "docs") {
		d, err := s.shelf.find(id)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	if len(docs) == 0 || len(docs) > maxDocuments {
		return nil, badf("docs: want from 1 to %d documents", maxDocuments)
	}
	err = s.use(r.ctx, func() error {
		step, err := stepOf(r, docs...)
		if err != nil {
			return err
		}
		v, err = courses(r, docs, step)
		return err
	}, docs...)
	return v, err
}

func courses(r *request, docs []*document, step int) (*chartsView, error) {
	out := &chartsView{}
	var charts []chart.Lines
	inertia := map[string]float64{}
	if len(docs) > 1 && oneTable(docs) {
		l, err := inertiaChart(r.ctx, docs, step)
		if err != nil {
			return nil, err
		}
		charts = append(charts, l)
		for _, m := range l.Marks {
			inertia[docs[m.Group].id] = m.Y
		}
	}
	switch {
	case comparable(docs):
		charts = append(charts, lossChart(docs, step))
	default:
		out.Note = "The objectives differ, so that their losses are not comparable: each has an axis of its own."
		for _, d := range docs {
			l := lossChart([]*document{d}, step)
			l.Title = "Loss of " + nameAmong(d, docs)
			charts = append(charts, l)
		}
	}
	for _, l := range charts {
		f, err := chartFile(r, l)
		if err != nil {
			return nil, err
		}
		out.Charts = append(out.Charts, string(f.text))
	}
	for _, d := range docs {
		at := figureView{Doc: d.id, Name: nameAmong(d, docs)}
		if step < d.session.steps() || d.session.trains {
			loss, err := d.lossAt(r.ctx, step)
			if err != nil {
				return nil, err
			}
			x := number(loss)
			at.Loss = &x
		}
		if x, known := inertia[d.id]; known {
			y := number(x)
			at.Inertia = &y
		}
		out.Figures = append(out.Figures, at)
	}
	return out, nil
}

// compareSVG answers with the aligned drawing as a file.
func (s *Service) compareSVG(r *request) (v any, err error) {
	a, b, err := s.pair(r)
	if err != nil {
		return nil, err
	}
	err = s.use(r.ctx, func() error {
		c, m, scale, err := paired(r.ctx, r, a, b)
		if err != nil {
			return err
		}
		drawn, err := c.view(r.ctx, m, scale)
		if err != nil {
			return err
		}
		v, err = s.write(svgType, a.model.Builder.Name+"-"+b.model.Builder.Name+".svg", drawn.svg)
		return err
	}, a, b)
	return v, err
}

// svg writes a sheet as one drawing, with the legend of its overlay below it.
func (s *sheetView) svg(w io.Writer) error {
	const line = 22
	foot := s.Footer
	if s.Scale != "" {
		foot = append([]string{s.Scale}, foot...)
	}
	height := s.Height + float64(len(foot)*line)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" class="tapestry tapestry-auto" viewBox="0 0 %g %g" width="%[1]g" height="%[2]g" role="img" font-family="%[3]s">`+"\n", s.Width, height, html.EscapeString(s.Font))
	fmt.Fprintf(w, "<title>%s</title><desc>%s</desc><style>%s</style><defs>%s</defs>\n", html.EscapeString(s.Title), html.EscapeString(s.Desc), s.Style, s.Defs)
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" class="f-page" fill="%s"/>`+"\n", s.Page)
	for _, item := range s.Items {
		fmt.Fprintln(w, item.SVG)
	}
	for i, text := range foot {
		fmt.Fprintf(w, `<text x="20" y="%g" font-size="12" class="f-ink" fill="#1B2733">%s</text>`+"\n", s.Height+float64(i*line)+line/2, html.EscapeString(text))
	}
	_, err := io.WriteString(w, "</svg>\n")
	return err
}
