package main

import (
	"io"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// draw draws how the iteration converges, before and after training, and what deep nets are beside it.
func draw(fresh derivative, nets []derivative, exact derivative) func(w io.Writer) error {
	return func(w io.Writer) error {
		return chart.Panels(w, 2, distances(fresh, nets[len(nets)-1]), gradients(nets, exact), memories(nets, exact))
	}
}

// distances draws how far from the solution the iteration is after each step.
func distances(fresh, trained derivative) chart.Lines {
	const shown = 40
	return chart.Lines{
		Frame: chart.Frame{ID: "distance", Title: "The iteration converges", Desc: "The distance shrinks by a factor in each step."},
		X:     "steps", Y: "largest distance from the solution", LogY: true,
		Series: []chart.Series{{Name: "fresh", Y: fresh.course[:shown]}, {Name: "trained", Group: 1, Y: trained.course[:shown]}},
	}
}

// byDepth is a quantity of the nets of several layers.
func byDepth(name string, nets []derivative, of func(d derivative) float64) chart.Series {
	s := chart.Series{Name: name}
	for i, d := range nets {
		s.X, s.Y = append(s.X, float64(depths[i])), append(s.Y, of(d))
	}
	return s
}

// gradients draws how far the gradients of deep nets are from that of the solution.
func gradients(nets []derivative, exact derivative) chart.Lines {
	return chart.Lines{
		Frame: chart.Frame{ID: "gradient", Title: "Deep nets tend to the same gradient", Desc: "The difference shrinks with the number of layers."},
		X:     "layers", Y: "difference of the gradients", LogY: true,
		Series: []chart.Series{byDepth("deep net", nets, func(d derivative) float64 { return off(d.gradient, exact.gradient) })},
	}
}

// memories draws what gradients take.
func memories(nets []derivative, exact derivative) chart.Lines {
	kib := func(d derivative) float64 { return float64(d.memory) / 1024 }
	flat := byDepth("equilibrium", nets, func(derivative) float64 { return kib(exact) })
	flat.Group = 1
	return chart.Lines{
		Frame: chart.Frame{ID: "memory", Title: "Its memory does not grow", Desc: "It grows with the layers; that of the solution does not."},
		X:     "layers", Y: "memory of a gradient, KiB", Covers: [][2]float64{{0, 0}},
		Series: []chart.Series{byDepth("deep net", nets, kib), flat},
	}
}
