package main

import (
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// scatter is the data in the plane in which they vary most, and the way of the centres of a
// method's best run.
func scatter(res *lab.Clusterings, m lab.Clustering, title string) chart.Scatter {
	table := res.Config.Table
	c := chart.Scatter{
		Frame:       chart.Frame{ID: "plane-" + m.Name, Title: title, Desc: "Each centre's way from the ring to the filled shape."},
		X:           "first principal component",
		Y:           "second",
		Points:      res.Plane.Points(table.X),
		EqualAspect: true,
	}
	c.Class, c.ClassNames = data.Codes(table.Labels)
	path := m.Best().Path
	ways := make([]chart.Path, res.Config.K)
	for j := range ways {
		ways[j].Name = "centres"
	}
	for _, centres := range path {
		for j, at := range res.Plane.Points(centres) {
			ways[j].Points = append(ways[j].Points, at)
		}
	}
	c.Paths = ways
	return c
}

// centres draws all methods side by side.
func centres(res *lab.Clusterings, family []lab.Clustering) func(io.Writer) error {
	return func(w io.Writer) error {
		var charts []interface{ SVG(io.Writer) error }
		for _, m := range family {
			charts = append(charts, scatter(res, m, fmt.Sprintf("%s: inertia %.2f", m.Name, m.Best().Inertia())))
		}
		return chart.Panels(w, 2, charts...)
	}
}

// temperature draws the effect of a constant γ on both objectives, and the paths of their centres
// when it is low.
func temperature(res *lab.Clusterings, blurred []lab.Clustering) func(io.Writer) error {
	return func(w io.Writer) error {
		inertia := chart.Lines{
			Frame: chart.Frame{ID: "inertia", Title: "Inertia by temperature", Desc: "The softmax idea stands a low temperature, the goofy alternative does not."},
			X:     "γ, constant", Y: "inertia", LogX: true,
			Rules: []chart.Rule{{Name: "Lloyd", Y: res.Baselines[0].Best().Inertia()}},
		}
		spread := chart.Lines{
			Frame: chart.Frame{ID: "spread", Title: "What they differ in: the spread", Desc: "Nothing keeps the centres of the goofy alternative together."},
			X:     "γ, constant", Y: "mean Σⱼ αⱼ‖rⱼ − r̂‖²", LogX: true, LogY: true,
		}
		for k, m := range blurred {
			s, d := chart.Series{Name: m.Name, Group: k}, chart.Series{Name: m.Name, Group: k}
			for _, p := range res.Gamma {
				if p.Objective == m.Name {
					s.X, s.Y = append(s.X, p.Value), append(s.Y, p.Inertia)
					d.X, d.Y = append(d.X, p.Value), append(d.Y, p.Spread)
				}
			}
			inertia.Series, spread.Series = append(inertia.Series, s), append(spread.Series, d)
		}
		charts := []interface{ SVG(io.Writer) error }{inertia, spread}
		for _, m := range blurred {
			charts = append(charts, scatter(res, m, fmt.Sprintf("%s with γ = %g: inertia %.1f", m.Name, low, m.Best().Inertia())))
		}
		return chart.Panels(w, 2, charts...)
	}
}
