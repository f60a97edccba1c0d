package main

import (
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// picture draws the points that were learnt from, and those that were made.
func picture(l *lesson.Lesson, seen []float32, made []float64) error {
	return l.Picture("moons.svg", func(w io.Writer) error {
		return chart.Panels(w, 2, scatter("seen", "Points held out", seen), scatter("made", "Points made of normal noise", made))
	})
}

func scatter[F float32 | float64](id, title string, points []F) chart.Scatter {
	s := chart.Scatter{Frame: chart.Frame{ID: id, Title: title, Desc: "Two half circles that reach into each other."}, X: "x", Y: "y", EqualAspect: true}
	for i := 0; i < len(points); i += 2 {
		s.Backdrop = append(s.Backdrop, [2]float64{float64(points[i]), float64(points[i+1])})
	}
	s.BackdropName = "points"
	return s
}
