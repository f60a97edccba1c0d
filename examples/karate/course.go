package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// course draws, step by step, the probability that a network gives to each member for going with
// the officer: all members of either faction, the median of each, and by name those that it gets
// wrong in the end.
func course(name string, o outcome, faction []int) chart.Lines {
	c := chart.Lines{
		Frame: chart.Frame{ID: strings.ToLower(name), Title: name + ": who goes with the officer"},
		X:     "step", Y: "probability", Covers: [][2]float64{{0, 0}, {0, 1}},
		YTicks: []float64{0, .25, .5, .75, 1},
	}
	var steps []float64
	for k := range o.course {
		steps = append(steps, float64(k*lookEvery))
	}
	wrong := o.wrong(faction)
	for i, f := range faction {
		series := chart.Series{X: steps, Y: o.sure(i), Group: f, Faint: true}
		if slices.Contains(wrong, i) {
			series.Name, series.Faint, series.Group = fmt.Sprintf("member %d", i), false, factions+slices.Index(wrong, i)
		}
		c.Series = append(c.Series, series)
	}
	for f, who := range []string{"the instructor's", "the officer's"} {
		median := chart.Series{Name: who, X: steps, Group: f}
		for k := range steps {
			var at []float64
			for i := range faction {
				if faction[i] == f {
					at = append(at, o.sure(i)[k])
				}
			}
			median.Y = append(median.Y, lab.Median(at))
		}
		c.Series = append(c.Series, median)
	}
	return c
}

// sure is the probability of the officer's faction that member i is given in the course of
// training.
func (o outcome) sure(i int) (p []float64) {
	for _, scores := range o.course {
		p = append(p, 1/(1+math.Exp(scores[i][0]-scores[i][1])))
	}
	return p
}
