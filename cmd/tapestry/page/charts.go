package page

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// planeAxes returns the labels of the plane's axes.
func planeAxes(p *linear.Plane) []string {
	var out []string
	for i, share := range p.Share {
		out = append(out, fmt.Sprintf("principal component %d (%.0f %% of the variance)", i+1, 100*share))
	}
	return out
}

// chartStyle answers with the rules that the charts of the page share.
func (s *Service) chartStyle(*request) (any, error) {
	return &file{kind: kinds[".css"], text: []byte(chart.Style())}, nil
}

// chartFile returns a chart as an SVG file. The page styles it by /assets/chart.css; with style=1
// the file contains those rules.
func chartFile(r *request, c interface{ SVG(io.Writer) error }) (*file, error) {
	styled, err := yesNo(r, "style")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := c.SVG(&b); err != nil {
		return nil, err
	}
	f := &file{kind: svgType}
	f.text = bytes.Replace(b.Bytes(), []byte("<svg "), []byte(`<svg xmlns="http://www.w3.org/2000/svg" `), 1)
	if styled {
		f.text = bytes.Replace(f.text, []byte(">"), []byte("><style>"+chart.Style()+"</style>"), 1)
	}
	return f, nil
}

// lossChart draws the losses of comparable sessions, and marks the shown state.
func lossChart(docs []*document, step int) chart.Lines {
	l := chart.Lines{Frame: chart.Frame{ID: "loss", Title: "Loss per step", Desc: "The loss of every step, before its update."}, X: "step", Y: "loss", FitY: true}
	for _, d := range docs {
		if d.session.feeder.objectiveMoves() {
			l.Desc += " What training feeds changes the objective from step to step, so that the loss may rise."
			break
		}
	}
	var ids []string
	for i, d := range docs {
		ids = append(ids, d.id)
		name := nameAmong(d, docs)
		l.Series = append(l.Series, chart.Series{Name: name, Y: d.session.losses, Group: i})
		if step >= 0 && step < len(d.session.losses) {
			l.Marks = append(l.Marks, stepMark(len(l.Marks), step, float64(step), d.session.losses[step], i))
		}
	}
	l.ID = "loss-" + strings.Join(ids, "-")
	return l
}

// stepMark marks the shown state, and names it if no mark did before.
func stepMark(before, step int, x, y float64, group int) chart.Mark {
	at := ""
	if before == 0 {
		at = fmt.Sprintf("step %d", step)
	}
	return chart.Mark{Name: at, X: x, Y: y, Group: group}
}

// comparable reports whether the losses of documents measure the same quantity: that of one model
// with the same settings on the same data.
func comparable(docs []*document) bool {
	for _, d := range docs[1:] {
		a, b := docs[0], d
		if a.model.Builder.Name != b.model.Builder.Name || a.source != b.source || !maps.Equal(a.settings, b.settings) || a.asked.Data != b.asked.Data || !maps.Equal(a.asked.Scalars, b.asked.Scalars) || !maps.Equal(a.asked.Courses, b.asked.Courses) {
			return false
		}
	}
	return true
}

// oneTable reports whether documents are clusterings of the same rows.
func oneTable(docs []*document) bool {
	for _, d := range docs {
		f, first := d.session.feeder, docs[0].session.feeder
		if f.table == nil || f.plane == nil || f.table.Name != first.table.Name {
			return false
		}
	}
	return true
}

// inertiaChart draws the inertia of clusterings of the same data: the sum of the squared distances
// to the nearest centres, which is comparable whatever their objectives.
func inertiaChart(ctx context.Context, docs []*document, step int) (chart.Lines, error) {
	l := chart.Lines{Frame: chart.Frame{ID: "inertia", Title: "Inertia Σᵢ minⱼ ‖xᵢ − rⱼ‖², of all", Desc: "The sum of the squared distances of the rows to their nearest centres, at the states that are kept."}, X: "step", Y: "inertia", FitY: true}
	for i, d := range docs {
		x, y, err := d.session.inertias(ctx, step)
		if err != nil {
			return l, err
		}
		l.Series = append(l.Series, chart.Series{Name: nameAmong(d, docs), X: x, Y: y, Group: i})
		for k := range x {
			if x[k] == float64(step) {
				l.Marks = append(l.Marks, stepMark(len(l.Marks), step, x[k], y[k], i))
			}
		}
	}
	return l, nil
}

// scatterChart draws the data of a clustering and the paths of its centres up to a state, and marks a
// row; −1 for none.
func (d *document) scatterChart(step, row int) (chart.Scatter, error) {
	f := d.session.feeder
	if f.plane == nil {
		return chart.Scatter{}, failf(notFound, "%s has no plane: only a clustering on data has", d.model.Builder.Name)
	}
	if step >= len(d.session.centres) {
		return chart.Scatter{}, failf(notFound, "the places of the centres are kept of the first %d steps", len(d.session.centres))
	}
	axes := planeAxes(f.plane)
	c := chart.Scatter{Frame: chart.Frame{ID: "scatter-" + d.id, Title: fmt.Sprintf("%s on %s, step %d", d.title(), f.table.Name, step), Desc: "The data, and the way of the centres until this step."},
		X: axes[0], Y: axes[1], Points: f.plane.Points(f.table.X), EqualAspect: true}
	c.Class, c.ClassNames = f.classes()
	for j := range d.session.centres[0] {
		p := chart.Path{Name: "centres"}
		for _, at := range d.session.centres[:step+1] {
			p.Points = append(p.Points, at[j])
		}
		c.Paths = append(c.Paths, p)
	}
	if row >= 0 {
		c.Paths = append(c.Paths, chart.Path{Name: fmt.Sprintf("row %d", row), Points: c.Points[row : row+1], Group: markedGroup})
	}
	return c, nil
}

// markedGroup is the colour of a marked row.
const markedGroup = 4

// valuesChart draws the histogram of a node's elements.
func valuesChart(id, name string, s *statsView, step int) chart.Bars {
	b := chart.Bars{Frame: chart.Frame{ID: "values-" + id, Title: fmt.Sprintf("%s at step %d", name, step), Desc: "How many elements lie where."}, Series: []string{"elements"}}
	for i, bin := range s.Hist {
		end := ")"
		if i == len(s.Hist)-1 {
			end = "]"
		}
		b.Rows = append(b.Rows, chart.Row{Name: "[" + short(float64(bin.Lo)) + ", " + short(float64(bin.Hi)) + end, Values: []float64{float64(bin.N)}})
	}
	return b
}

func (s *Service) chart(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	kind := r.query.Get("kind")
	id, values := strings.CutPrefix(kind, "values:")
	switch {
	case kind == "loss":
		c := lossChart([]*document{d}, step)
		return chartFile(r, c)
	case kind == "scatter":
		row, err := d.markedRow(r)
		if err != nil {
			return nil, err
		}
		c, err := d.scatterChart(step, row)
		if err != nil {
			return nil, err
		}
		return chartFile(r, c)
	case !values:
		return nil, badf("kind=%.40s: want loss, scatter or values:NODE", kind)
	}
	n, v, err := d.node(r.ctx, id)
	if err != nil {
		return nil, err
	}
	record, err := d.record(r.ctx, v, step)
	if err != nil {
		return nil, err
	}
	c := valuesChart(id, v.called(n), newStats(record.Value(n)), step)
	return chartFile(r, c)
}

// markedRow reads the row of the data that a request asks to mark, −1 for none.
func (d *document) markedRow(r *request) (int, error) {
	rows := 0
	if a := d.session.feeder; a.plane != nil {
		rows = len(a.plane.Points(a.table.X))
	}
	return whole(r, "row", -1, -1, rows-1)
}
