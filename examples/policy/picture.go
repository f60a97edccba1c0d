package main

import (
	"context"
	"io"
	"math"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

var names = map[bool]string{true: "baseline", false: "plain"}

// draw draws the lengths of episodes beside a policy.
func draw(curves map[bool][][]float64, heat panel) func(w io.Writer) error {
	return func(w io.Writer) error { return chart.Panels(w, 2, learning(curves), heat) }
}

// learning draws the lengths of episodes by trial, with the baseline and without.
func learning(curves map[bool][][]float64) chart.Lines {
	c := chart.Lines{
		Frame: chart.Frame{ID: "learning", Title: "The pole stands ever longer", Desc: "Runs from several seeds, and their medians."},
		X:     "trials of 16 episodes", Y: "pushes until the pole falls, at most 500", Covers: [][2]float64{{0, 0}, {0, 500}},
	}
	for k, baseline := range []bool{true, false} {
		var median []float64
		for trial := range curves[baseline][0] {
			var all []float64
			for _, run := range curves[baseline] {
				all = append(all, run[trial])
			}
			median = append(median, lab.Median(all))
		}
		for _, run := range curves[baseline] {
			c.Series = append(c.Series, chart.Series{Group: k, Faint: true, Y: run})
		}
		c.Series = append(c.Series, chart.Series{Name: names[baseline], Group: k, Y: median})
	}
	return c
}

// heat draws how likely the policy pushes to the right, in the middle of the track at rest.
func heat(ctx context.Context, t *train.Trainer) panel {
	return func(w io.Writer) error {
		const n = 31
		h := chart.Heatmap{
			Scatter: chart.Scatter{
				Frame: chart.Frame{ID: "heat", Title: "Where it pushes to the right", Desc: "How likely a push to the right is, by angle and angular speed."},
				X:     "angle, degrees", Y: "angular speed, degrees a second",
			},
			Z: "π(right)", Range: [2]float64{0, 1},
		}
		var s []float32
		for i := range n {
			h.Xs, h.Ys = append(h.Xs, 12*(2*float64(i)/(n-1)-1)), append(h.Ys, 120*(2*float64(i)/(n-1)-1))
		}
		for _, dθ := range h.Ys {
			for _, θ := range h.Xs {
				s = append(s, 0, 0, float32(θ*math.Pi/180), float32(dθ*math.Pi/180))
			}
		}
		set, err := data.NewSet(map[string]*tensor.Dense{"s": lesson.Array(s, n*n, 4)})
		if err != nil {
			return err
		}
		err = t.Predict(ctx, data.InOrder(set, 0), func(_ data.Batch, output *tensor.Dense) error {
			logp := output.Float32s()
			for i := range n {
				h.Values = append(h.Values, make([]float64, n))
				for j := range n {
					h.Values[i][j] = math.Exp(float64(logp[2*(i*n+j)+1]))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return h.SVG(w)
	}
}

// panel is a chart that is made when it is drawn.
type panel func(w io.Writer) error

// SVG draws it.
func (p panel) SVG(w io.Writer) error { return p(w) }
