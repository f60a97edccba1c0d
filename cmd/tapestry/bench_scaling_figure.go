package main

import (
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// draw writes a panel for each net, with a line for each network and schedule: the efficiency of each
// rank, or of one batch for all ranks the gain in speed; where schedules are compared, the time of
// the exchange.
func (s *benchScaling) draw(w io.Writer, curves []curve) error {
	var panels []interface{ SVG(io.Writer) error }
	for len(curves) > 0 {
		n := 1
		for n < len(curves) && curves[n].net == curves[0].net {
			n++
		}
		panels = append(panels, s.panel(len(panels), curves[:n]))
		curves = curves[n:]
	}
	return chart.Panels(w, min(3, len(panels)), panels...)
}

// panel is the chart of one net.
func (s *benchScaling) panel(number int, curves []curve) chart.Lines {
	first := curves[0]
	l := chart.Lines{
		Frame: chart.Frame{ID: fmt.Sprint("scaling-", number), Title: first.net.Name},
		X:     "ranks", LogX: true,
	}
	value := func(c curve, i int) float64 { return 100 * c.steps[i].Efficiency(c.alone) }
	l.Y, l.Covers = "efficiency of a rank, %", [][2]float64{{1, 0}, {1, 100}}
	switch {
	case len(s.schedules) > 1:
		l.Y, l.LogY, l.Covers = "exchange, seconds", true, nil
		value = func(c curve, i int) float64 { return c.steps[i].Exchange }
	case first.strong():
		l.Y, l.LogY, l.Covers = "times as fast as one rank", true, [][2]float64{{1, 1}}
		value = func(c curve, i int) float64 { return c.steps[i].RowsPerSecond() / c.alone.RowsPerSecond() }
	}
	for g, c := range curves {
		line := chart.Series{Group: g % 6}
		switch {
		case len(s.schedules) == 1:
			line.Name = c.network.Name
		case len(s.networks) == 1:
			line.Name = c.schedule.Name
		default:
			line.Name = c.schedule.Name + ", " + c.network.Name
		}
		for i, step := range c.steps {
			line.X, line.Y = append(line.X, float64(step.Ranks)), append(line.Y, value(c, i))
		}
		l.Series = append(l.Series, line)
	}
	return l
}
