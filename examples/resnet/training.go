package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// training holds the runs of a net, which differ in their seeds.
type training struct {
	kind
	runs []*digits.Curve
}

// trainings are those of all nets, the deepest last.
type trainings []training

func (all trainings) find(k kind) training {
	return all[slices.IndexFunc(all, func(t training) bool { return t.kind == k })]
}

// loss is the training loss over the last epoch, the median of the runs, and accuracy that
// on other digits.
func (t training) loss() float64     { return lab.Median(t.each(last)) }
func (t training) accuracy() float64 { return lab.Median(t.each((*digits.Curve).Final)) }

// each gives a number of every run.
func (t training) each(of func(*digits.Curve) float64) []float64 {
	v := make([]float64, len(t.runs))
	for i, c := range t.runs {
		v[i] = of(c)
	}
	return v
}

func last(c *digits.Curve) float64   { return c.Loss[len(c.Loss)-1] }
func errors(c *digits.Curve) float64 { return c.Errors()[len(c.Errors())-1] }

// picture draws losses and errors by depth, how the deepest nets learn, and the lengths of
// their gradients by layer.
func (all trainings) picture(norms map[kind][]float64) func(w io.Writer) error {
	return func(w io.Writer) error {
		loss := all.byDepth("loss", "Loss on the digits trained on", "last epoch, nats", last)
		wrong := all.byDepth("errors", "Errors on digits not trained on", "read wrongly, %", errors)
		deepest := all[len(all)-2:]
		learning := chart.Lines{
			Frame: chart.Frame{ID: "learning", Title: fmt.Sprintf("How the nets of %d layers learn", deepest[0].layers())},
			X:     "epoch", Y: "loss, nats", LogY: true,
		}
		gradients := chart.Lines{
			Frame: chart.Frame{ID: "gradients", Title: "Their gradients before training"},
			X:     "layer", Y: "length of the gradient by its weights", LogY: true,
		}
		for group, t := range deepest {
			for _, c := range t.runs {
				learning.Series = append(learning.Series, chart.Series{Name: t.String(), X: counted(1, len(c.Loss)), Y: c.Loss, Group: group, Faint: true})
			}
			learning.Series = append(learning.Series, chart.Series{Name: t.String(), X: counted(1, len(t.runs[0].Loss)), Y: t.middle(), Group: group})
			gradients.Series = append(gradients.Series, chart.Series{Name: t.String(), X: counted(2, len(norms[t.kind])), Y: norms[t.kind], Group: group})
		}
		return chart.Panels(w, 2, loss, wrong, learning, gradients)
	}
}

// byDepth draws the median, the least and the largest of the runs by the number of layers.
func (all trainings) byDepth(id, title, y string, of func(*digits.Curve) float64) chart.Lines {
	lines := chart.Lines{Frame: chart.Frame{ID: id, Title: title}, X: "layers", Y: y, LogX: true, LogY: true}
	for group, plain := range []bool{true, false} {
		s := chart.Series{Name: kind{plain: plain}.String(), Group: group}
		for _, t := range all {
			if t.plain == plain {
				v := t.each(of)
				s.X, s.Y = append(s.X, float64(t.layers())), append(s.Y, lab.Median(v))
				s.Lo, s.Hi = append(s.Lo, slices.Min(v)), append(s.Hi, slices.Max(v))
			}
		}
		lines.Series = append(lines.Series, s)
		lines.XTicks = s.X
	}
	return lines
}

// middle is the median loss of the runs after each epoch.
func (t training) middle() []float64 {
	out := make([]float64, len(t.runs[0].Loss))
	for epoch := range out {
		out[epoch] = lab.Median(t.each(func(c *digits.Curve) float64 { return c.Loss[epoch] }))
	}
	return out
}

// counted is n whole numbers.
func counted(from, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(from + i)
	}
	return out
}
