package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"text/tabwriter"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// trials lists all trials that were run.
type trials []*trial

// best is the trial of an optimiser with a schedule whose loss came lowest, by rate.
func (all trials) best(optimiser, schedule string) (best *trial) {
	for _, t := range all {
		if t.optimiser == optimiser && t.schedule.name == schedule && (best == nil || t.loss() < best.loss()) {
			best = t
		}
	}
	return best
}

// print prints a table of the best trials, an optimiser a line.
func (all trials) print(what string, of func(t *trial) string) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\n%s\t", what)
	for _, s := range schedules {
		fmt.Fprintf(w, "%s\t", s.name)
	}
	for _, o := range optimisers {
		fmt.Fprintf(w, "\n%s\t", o.name)
		for _, s := range schedules {
			fmt.Fprintf(w, "%s\t", of(all.best(o.name, s.name)))
		}
	}
	fmt.Fprintln(w)
	w.Flush()
}

// drawOptimisers draws all optimisers at a constant rate: at their best one over the epochs, and
// by rate.
func (all trials) drawOptimisers(w io.Writer) error {
	course := chart.Lines{
		Frame: chart.Frame{ID: "course", Title: "Optimisers, each at its best constant rate", Desc: "The median over the seeds."},
		X:     "epoch", Y: "training loss", LogY: true, Height: 340,
	}
	byRate := chart.Lines{
		Frame: chart.Frame{ID: "rates", Title: "What the rate decides", Desc: "Too small stands still, too large diverges."},
		X:     "constant rate", Y: "training loss of the last epoch", LogX: true, LogY: true, Height: 340,
	}
	for k, o := range optimisers {
		course.Series = append(course.Series, epochs(o.name, k, all.best(o.name, "constant")))
		s := chart.Series{Name: o.name, Group: k}
		for _, t := range all {
			if loss := t.loss(); t.optimiser == o.name && t.schedule.name == "constant" && !math.IsInf(loss, 0) {
				s.X, s.Y = append(s.X, t.rate), append(s.Y, loss)
			}
		}
		byRate.Series = append(byRate.Series, s)
	}
	return chart.Panels(w, 2, course, byRate)
}

// drawSchedules draws all schedules, and three optimisers with each of them.
func (all trials) drawSchedules(w io.Writer) error {
	rates := chart.Lines{
		Frame: chart.Frame{ID: "schedules", Title: "Schedules"},
		X:     "part of the training", Y: "rate, of the largest", Height: 300,
	}
	charts := []interface{ SVG(io.Writer) error }{&rates}
	const steps = 200
	for k, s := range schedules {
		line := chart.Series{Name: s.name, Group: k}
		for step := range steps {
			line.X = append(line.X, float64(step)/steps)
			line.Y = append(line.Y, s.course(1, steps).At(step, steps))
		}
		rates.Series = append(rates.Series, line)
	}
	for _, name := range []string{"sgd", "nesterov", "adam"} {
		c := chart.Lines{
			Frame: chart.Frame{ID: "by-" + name, Title: name + " with each, at its best rate"},
			X:     "epoch", Y: "training loss", LogY: true, Height: 300,
		}
		for k, s := range schedules {
			c.Series = append(c.Series, epochs(s.name, k, all.best(name, s.name)))
		}
		charts = append(charts, c)
	}
	return chart.Panels(w, 2, charts...)
}

// epochs is the course of a trial, from the first epoch on.
func epochs(name string, group int, t *trial) chart.Series {
	s := chart.Series{Name: name, Group: group, Y: t.curve()}
	for e := range s.Y {
		s.X = append(s.X, float64(e+1))
	}
	return s
}
