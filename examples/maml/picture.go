package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

// outcome is what a method reaches on new tasks.
type outcome struct {
	method
	errors []float64 // after each inner step
	slopes []float64

	x, y      []float64   // the points of a task
	predicted [][]float64 // there, after each inner step
}

// looked are the quantities of the evaluating net that take keeps, the first two of one task.
var looked = []string{"x", "y", "predicted", "errors", "slopes"}

func (o *outcome) take(_ data.Batch, v []*tensor.Dense) error {
	o.x, o.y = slices.Clone(v[0].Float64s()[:examined]), slices.Clone(v[1].Float64s()[:examined])
	for t := range tried + 1 {
		o.predicted = append(o.predicted, slices.Clone(v[2].Float64s()[t*examined:(t+1)*examined]))
	}
	o.errors, o.slopes = slices.Clone(v[3].Float64s()), slices.Clone(v[4].Float64s())
	return nil
}

// chart draws the predictions for the task before and after the first and the last step.
func (o outcome) chart(id string) chart.Lines {
	order := make([]int, examined)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(o.x[i], o.x[j]) })
	curve := func(name string, group int, y []float64) chart.Series {
		s := chart.Series{Name: name, Group: group}
		for _, i := range order {
			s.X, s.Y = append(s.X, o.x[i]), append(s.Y, y[i])
		}
		return s
	}
	return chart.Lines{
		Frame: chart.Frame{ID: id, Title: o.name + ": a new task", Desc: "Predictions before, after one and after ten steps, and the sinusoid."},
		X:     "x", Y: "y", Covers: [][2]float64{{0, -5}, {0, 5}},
		Series: []chart.Series{
			curve("the sinusoid", 0, o.y),
			{Name: "points seen", Group: 0, Points: true, X: o.x[:seen], Y: o.y[:seen]},
			curve("before", 1, o.predicted[0]), curve("after 1 step", 2, o.predicted[1]),
			curve(fmt.Sprintf("after %d steps", tried), 3, o.predicted[tried]),
		},
	}
}

// draw draws a task as all methods learn it, and the errors of all tasks.
func draw(outcomes []outcome) func(w io.Writer) error {
	return func(w io.Writer) error {
		all := chart.Lines{
			Frame: chart.Frame{ID: "errors", Title: "600 new tasks", Desc: "The error falls with the inner steps."},
			X:     "inner steps", Y: "mean squared error", LogY: true,
		}
		var charts []interface{ SVG(io.Writer) error }
		for i, o := range outcomes {
			charts = append(charts, o.chart(fmt.Sprint("task", i+1)))
			all.Series = append(all.Series, chart.Series{Name: o.name, Group: i, Y: o.errors})
		}
		return chart.Panels(w, 2, append(charts, all)...)
	}
}
