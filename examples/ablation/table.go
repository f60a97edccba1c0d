package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gonum.org/v1/gonum/stat"
)

// spread is the mean and the standard deviation of a number over the seeds.
type spread struct{ mean, deviation float64 }

func newSpread(v []float64) spread {
	mean, deviation := stat.MeanStdDev(v, nil)
	return spread{mean, deviation}
}

// versus returns b − a, seed by seed, in which the influence of a seed on both cancels.
func versus(a, b []float64) (differences []float64, s spread) {
	for i := range a {
		differences = append(differences, b[i]-a[i])
	}
	return differences, newSpread(differences)
}

// measure is a number that variants are compared by: the smaller the better.
type measure struct {
	id, name, title string
	digits          int // after the point
	of              func(v variant) []float64
}

var measures = []measure{
	{"wrong", "read wrongly, %", "Read wrongly at the end, % (* hardly by chance)", 2, func(v variant) []float64 { return v.wrong }},
	{"loss", "loss, nats", "Loss at the end, nats", 3, func(v variant) []float64 { return v.loss }},
}

// chances returns, for each variant after the first, the probability of so large a difference from
// the first by the seeds alone: Student's t-test on the differences of pairs, corrected for their
// number.
func (m measure) chances(all []variant) []float64 {
	var p []float64
	for _, v := range all[1:] {
		d, _ := versus(m.of(all[0]), m.of(v))
		p = append(p, lab.StudentT.P(d))
	}
	return lab.Holm(p)
}

// table writes every variant's numbers and how they differ from those of the first.
func table(w io.Writer, all []variant) error {
	out := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, m := range measures {
		fmt.Fprintf(out, "%s\tmean ± deviation\tdifference\tchance\n", m.name)
		chances := m.chances(all)
		for i, v := range all {
			s := newSpread(m.of(v))
			fmt.Fprintf(out, "%s\t%.*f ± %.*f", v.name, m.digits, s.mean, m.digits, s.deviation)
			if i > 0 {
				_, d := versus(m.of(all[0]), m.of(v))
				fmt.Fprintf(out, "\t%+.*f\t%.2g%s", m.digits, d.mean, chances[i-1], marked(chances[i-1]))
			}
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// rounded returns a number with the given digits after the point.
func rounded(v float64, digits int) float64 {
	ten := math.Pow10(digits)
	return math.Round(v*ten) / ten
}

// marked adds a star to a difference that is hardly chance.
func marked(p float64) string {
	if p <= 0.05 {
		return " *"
	}
	return ""
}

// draw draws the net with three things in it, how all learn, and the table as bars.
func draw(l *lesson.Lesson, all []variant) error {
	three := all[4]
	if err := l.Draw("model.svg", three.net(32, train.Training).Loss); err != nil {
		return err
	}
	learning := chart.Lines{
		Frame: chart.Frame{ID: "learning", Title: "Errors after each epoch, mean of the seeds", Width: 560},
		X:     "epoch", Y: "read wrongly, %", LogX: true, LogY: true, Height: 380,
	}
	for group, v := range all {
		s := chart.Series{Name: v.name, Group: group, Y: make([]float64, len(v.curves[0]))}
		for epoch := range s.Y {
			for _, c := range v.curves {
				s.Y[epoch] += c[epoch] / float64(len(v.curves))
			}
			s.X = append(s.X, float64(epoch+1))
		}
		learning.Series = append(learning.Series, s)
	}
	charts := []interface{ SVG(io.Writer) error }{learning}
	for _, m := range measures {
		bars := chart.Bars{
			Frame:  chart.Frame{ID: m.id, Title: m.title, Width: 560},
			Series: []string{""},
		}
		chances := m.chances(all)
		for i, v := range all {
			s := newSpread(m.of(v))
			unit := fmt.Sprintf("± %.*f", m.digits, s.deviation)
			if i > 0 {
				unit += marked(chances[i-1])
			}
			bars.Rows = append(bars.Rows, chart.Row{Name: v.name, Unit: unit, Values: []float64{rounded(s.mean, m.digits)}})
		}
		charts = append(charts, bars)
	}
	return l.Picture("ablation.svg", func(w io.Writer) error { return chart.Panels(w, 1, charts...) })
}
