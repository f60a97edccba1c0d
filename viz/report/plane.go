package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// plane shows the data in its principal components with the paths of the centres.
func (w *writer) plane(p Page) section {
	s := section{ID: "plane", Title: "The plane"}
	c := p.planeChart("plane", "Data and centres in two principal components")
	methods := p.methods()
	var drawn []Method
	for i := len(methods) - 1; i >= 0; i-- { // the variants last, so that nothing covers them
		drawn = append(drawn, methods[i])
		for _, way := range methods[i].Paths {
			c.Paths = append(c.Paths, chart.Path{Name: methods[i].Name, Group: i, Points: way})
		}
	}
	if len(c.Points) == 0 && len(c.Paths) == 0 {
		return s
	}
	lead := "The data in the plane in which it varies most."
	if seen := p.Plane.Share[0] + p.Plane.Share[1]; finite(seen) && seen > 0 {
		lead += fmt.Sprintf(" It holds %s of the variance", percent(seen))
		if seen < 1-1e-9 {
			lead += "; distances in other directions are not seen here"
		}
		lead += "."
	}
	s.Lead = []string{lead}
	caption := []string{"A unit is equally long in both directions."}
	switch {
	case len(c.Points) > 0 && c.Class != nil:
		caption = append(caption, "Hollow shapes: the data, by label.")
	case len(c.Points) > 0:
		caption = append(caption, "Hollow shapes: the data.")
	}
	if len(c.Paths) > 0 {
		caption = append(caption, "Lines: the ways of the centres in the best run of each method, from the ring to the filled shape.")
	}
	w.trackWays(p, c, drawn)
	s.Body = []template.HTML{w.figure(c, strings.Join(caption, " "))}
	return s
}

// planeChart returns a chart of the data in the plane, to which centres can be added.
func (p Page) planeChart(id, title string) chart.Scatter {
	c := chart.Scatter{Frame: frame(id, title, ""), X: axis(1, p.Plane.Share[0]), Y: axis(2, p.Plane.Share[1]), EqualAspect: true, Points: p.Plane.Points, Class: p.Plane.Class}
	if c.Class != nil {
		c.ClassNames = p.Data.Classes
	}
	return c
}

// mostShapes is the number of points up to which they have a shape of their class in small
// pictures; more of them are dots.
const mostShapes = 2000

// small is planeChart for a small picture.
func (w *writer) small(p Page, id, title string) chart.Scatter {
	if len(p.Plane.Points) > mostShapes {
		return w.dotted(p, id, title)
	}
	return p.planeChart(id, title)
}

// dotted is planeChart with the data as dots behind what is added, without their classes. All
// charts refer to the same dots, which the page has once.
func (w *writer) dotted(p Page, id, title string) chart.Scatter {
	c := p.planeChart(id, title)
	if len(c.Points) > 0 && w.cloud == nil {
		w.cloud = &chart.Cloud{ID: "chart-data", Name: "data", Points: c.Points}
	}
	c.Cloud, c.Points, c.Class, c.ClassNames = w.cloud, nil, nil, nil
	return c
}

// dots returns the dots that charts refer to, if any do.
func (w *writer) dots() template.HTML {
	if w.cloud == nil {
		return ""
	}
	return w.svg(w.cloud)
}

// planeSize returns the width of the data in the plane, or 1.
func (p Page) planeSize() float64 {
	out := 0.0
	for a := range 2 {
		var v []float64
		for _, q := range p.Plane.Points {
			v = append(v, q[a])
		}
		if v = finites(v); len(v) > 0 {
			out = max(out, v[len(v)-1]-v[0])
		}
	}
	if out > 0 {
		return out
	}
	return 1
}

// axis names a principal component.
func axis(n int, share float64) string {
	name := fmt.Sprint("component ", n)
	if finite(share) && share > 0 {
		name += fmt.Sprintf(" (%s of the variance)", percent(share))
	}
	return name
}
