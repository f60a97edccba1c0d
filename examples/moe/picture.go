package main

import (
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

const side = 40 // of a square of points

// grid is the i-th of their coordinates, from −1 to 1.
func grid(i int) float64 { return (2*float64(i)+1)/side - 1 }

// picture draws the function, what is learnt of it, and to which expert every point goes first.
func picture(l *lesson.Lesson, test *data.Set, mixture, dense result) error {
	var at []float64
	for i := range side {
		at = append(at, grid(i))
	}
	over := func(id, title string, of func(i int) float64) chart.Heatmap {
		h := chart.Heatmap{Scatter: chart.Scatter{Frame: chart.Frame{ID: id, Title: title}, X: "x", Y: "y", EqualAspect: true}, Z: "f", Xs: at, Ys: at, Range: [2]float64{-1.2, 1.2}}
		for row := range side {
			var v []float64
			for column := range side {
				v = append(v, of(row*side+column))
			}
			h.Values = append(h.Values, v)
		}
		return h
	}
	y := test.Column("y").Float32s()
	first := chart.Scatter{Frame: chart.Frame{ID: "first", Title: "The expert that every point goes to first"}, X: "x", Y: "y", EqualAspect: true}
	for e := range 8 {
		first.ClassNames = append(first.ClassNames, fmt.Sprint(e+1))
	}
	for i := range side * side {
		if column, row := i%side, i/side; column%2 == row%2 {
			first.Points = append(first.Points, [2]float64{at[column], at[row]})
			first.Class = append(first.Class, int(mixture.choice[i]))
		}
	}
	return l.Picture("experts.svg", func(w io.Writer) error {
		return chart.Panels(w, 2,
			over("function", "The function", func(i int) float64 { return float64(y[i]) }), first,
			over("mixture", "Two of eight experts of 32 units", func(i int) float64 { return mixture.y[i] }),
			over("dense", "One net of 90 units", func(i int) float64 { return dense.y[i] }))
	})
}
