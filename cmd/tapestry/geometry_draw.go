package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// drawSurface draws the losses over a common plane, a chart for each model.
func (c *geometryCommand) drawSurface(cmd *cobra.Command, trained []*geometry.Trajectory) (*geometry.Landscape, error) {
	config := geometry.SurfaceConfig{Random: c.directions == "random", Seed: c.seed, Cells: c.cells, Reach: c.reach}
	var sites []geometry.Site
	for _, t := range trained {
		sites, config.Paths = append(sites, t.Site), append(config.Paths, t.Path)
	}
	l, err := geometry.Surface(cmd.Context(), config, sites...)
	if err != nil {
		return nil, err
	}
	var values [][]float64
	for _, s := range l.Surfaces {
		values = append(values, s.Loss...)
	}
	colours, log := colourRange(values)
	x, y := "random direction 1", "random direction 2"
	if !config.Random {
		x, y = fmt.Sprintf("direction 1 (%.0f %%)", 100*l.Share[0]), fmt.Sprintf("direction 2 (%.0f %%)", 100*l.Share[1])
	}
	var charts []chart.Heatmap
	for i, s := range l.Surfaces {
		h := chart.Heatmap{Xs: l.A, Ys: l.B, Values: s.Loss, Z: "loss", Log: log, Range: colours}
		h.ID, h.Title, h.X, h.Y, h.EqualAspect = fmt.Sprint("surface-", i), "Loss of "+s.Name, x, y, !config.Random
		h.Paths = []chart.Path{{Name: "training", Group: 1, Points: within(s.Path, l.A, l.B)}}
		charts = append(charts, h)
	}
	return l, drawPanels(cmd, c.surface, charts)
}

// drawField draws where each objective pulls a centre, a chart for each model.
func (c *geometryCommand) drawField(cmd *cobra.Command, trained []*geometry.Trajectory) (*geometry.GradientField, error) {
	var sites []geometry.Site
	for _, t := range trained {
		sites = append(sites, t.Site)
	}
	f, err := geometry.Field(cmd.Context(), geometry.FieldConfig{Prototype: c.prototype - 1, Cells: c.cells}, sites...)
	if err != nil {
		return nil, err
	}
	var values [][]float64
	for _, o := range f.Fields {
		values = append(values, o.Loss...)
	}
	colours, log := colourRange(values)
	x, y := "component 1", "component 2"
	if !f.Principal && c.config != nil {
		x, y = c.config.Columns[0], c.config.Columns[1]
	}
	var charts []chart.Heatmap
	for i, o := range f.Fields {
		h := chart.Heatmap{Xs: f.A, Ys: f.B, Values: o.Loss, Z: "loss", Log: log, Range: colours, ArrowName: "pull on the centre that is moved"}
		h.ID, h.Title, h.X, h.Y, h.EqualAspect = fmt.Sprint("field-", i), "Pull of "+o.Name, x, y, true
		h.Points = f.Points
		if c.config != nil && len(c.config.Labels) > 0 {
			h.Class, h.ClassNames = data.Codes(c.config.Labels)
		}
		for k, at := range o.Centres {
			if k != f.Prototype {
				h.Paths = append(h.Paths, chart.Path{Name: "centres that stay", Group: 1, Points: [][2]float64{at}})
			}
		}
		h.Paths = append(h.Paths, chart.Path{Name: "the centre that is moved, where it is", Points: [][2]float64{o.Centres[f.Prototype]}})
		h.Arrows = arrows(f, o)
		charts = append(charts, h)
	}
	return f, drawPanels(cmd, c.field, charts)
}

// arrows returns about twelve arrows along each side, off the edges.
func arrows(f *geometry.GradientField, o geometry.ObjectiveField) []chart.Arrow {
	stride := max(1, len(f.A)/12)
	var out []chart.Arrow
	for j := stride / 2; j < len(f.B); j += stride {
		for i := stride / 2; i < len(f.A); i += stride {
			if i > 0 && j > 0 && i < len(f.A)-1 && j < len(f.B)-1 {
				out = append(out, chart.Arrow{At: [2]float64{f.A[i], f.B[j]}, By: o.Down[j][i]})
			}
		}
	}
	return out
}

// within replaces points outside the plane that is shown by NaN, which leaves a gap.
func within(path [][2]float64, xs, ys []float64) [][2]float64 {
	var out [][2]float64
	for _, p := range path {
		if p[0] < xs[0] || p[0] > xs[len(xs)-1] || p[1] < ys[0] || p[1] > ys[len(ys)-1] {
			p = [2]float64{math.NaN(), math.NaN()}
		}
		out = append(out, p)
	}
	return out
}

// colourRange returns the range of all finite values, and whether the scale should be logarithmic:
// otherwise the largest values would leave one colour to all others.
func colourRange(values [][]float64) (colours [2]float64, log bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range values {
		for _, v := range row {
			if !math.IsNaN(v) && math.Abs(v) < 1e300 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if !(lo < hi) {
		return colours, false
	}
	return [2]float64{lo, hi}, lo > 0 && hi > 4*lo
}

// drawPanels writes charts side by side, up to three in a row.
func drawPanels(cmd *cobra.Command, path string, charts []chart.Heatmap) error {
	all := make([]interface{ SVG(io.Writer) error }, len(charts))
	for i, h := range charts {
		all[i] = h
	}
	return writeOutput(path, cmd.OutOrStdout(), func(w io.Writer) error { return chart.Panels(w, min(3, len(all)), all...) })
}
