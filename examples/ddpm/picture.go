package main

import (
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// picture draws some of what is made, and how a few came about: path has as many images as are drawn at each time.
func picture(l *lesson.Lesson, path []float64) error {
	image := func(t, k int) chart.Image {
		at := (t*drawn + k) * 64
		return chart.Image{Columns: 8, Values: path[at : at+64], Full: 16}
	}
	made := chart.Images{Frame: chart.Frame{ID: "made", Title: "Digits made of noise", Width: 900}, Pixel: 5, Rows: []chart.ImageRow{{}}}
	for k := range 64 {
		made.Rows[0].Images = append(made.Rows[0].Images, image(0, k))
	}
	paths := chart.Images{Frame: chart.Frame{ID: "paths", Title: "How four of them came about", Desc: "From noise on the left to a digit on the right.", Width: 900}, Pixel: 5}
	for k := range 4 {
		var row chart.ImageRow
		for _, t := range []int{99, 60, 50, 40, 35, 30, 25, 20, 16, 12, 8, 4, 2, 0} {
			row.Images = append(row.Images, image(t, k))
		}
		paths.Rows = append(paths.Rows, row)
	}
	return l.Picture("digits.svg", func(w io.Writer) error { return chart.Panels(w, 1, made, paths) })
}
