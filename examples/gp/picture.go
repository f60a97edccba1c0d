package main

import (
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

const draws = 3 // of the posterior

// picture draws what is predicted of the years ahead.
func picture(l *lesson.Lesson, held months, p prediction) error {
	return l.Picture("prediction.svg", func(w io.Writer) error {
		measured := chart.Series{Name: "measured", Points: true, Group: 1}
		mean := chart.Series{Name: "predicted"}
		around := chart.Series{Name: "predicted"}
		off := chart.Series{Name: "measured", Points: true, Group: 1}
		samples := make([]chart.Series, draws)
		for k, year := range held.years {
			if year < until-1 {
				continue
			}
			band := 1.96 * p.deviation[k]
			mean.X, mean.Y = append(mean.X, year), append(mean.Y, p.mean[k])
			mean.Lo, mean.Hi = append(mean.Lo, p.mean[k]-band), append(mean.Hi, p.mean[k]+band)
			around.X, around.Y = append(around.X, year), append(around.Y, 0)
			around.Lo, around.Hi = append(around.Lo, -band), append(around.Hi, band)
			measured.X, measured.Y = append(measured.X, year), append(measured.Y, held.ppm[k])
			off.X, off.Y = append(off.X, year), append(off.Y, held.ppm[k]-p.mean[k])
			for i := range samples {
				samples[i].Group = 2
				samples[i].Faint = true
				samples[i].X, samples[i].Y = append(samples[i].X, year), append(samples[i].Y, p.samples[k*draws+i]-p.mean[k])
			}
		}
		samples[0].Name = "drawn"
		return chart.Panels(w, 1,
			chart.Lines{
				Frame: chart.Frame{ID: "prediction", Title: "Predicted from the months until 2003", Desc: "The mean, and the interval for 95 of 100 months.", Width: 700},
				X:     "year", Y: "ppm above the mean until 2003", Series: []chart.Series{mean, measured},
			},
			chart.Lines{
				Frame: chart.Frame{ID: "samples", Title: "Three draws of the posterior, and what came", Desc: "Both less the mean that is predicted.", Width: 700},
				X:     "year", Y: "ppm above the prediction", Series: append([]chart.Series{around, off}, samples...),
			})
	})
}
