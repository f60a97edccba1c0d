package main

import (
	"context"
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// picture draws how much of each direction both methods leave, and the effect on unseen wines.
func picture(ctx context.Context, l *lesson.Lesson, few, unseen linear.LeastSquares, shrunk linear.Shrinkage) error {
	kept := chart.Lines{
		Frame:  chart.Frame{ID: "kept", Title: "Kept of the least squares solution", Desc: "Small singular values are held back."},
		X:      "singular value σ of the data",
		Y:      "factor along its direction",
		YTicks: []float64{0, 0.25, 0.5, 0.75, 1},
		Series: []chart.Series{{Name: "ridge, λ = 8"}, {Name: "25 steps", Group: 1}},
	}
	for i := range shrunk {
		d := shrunk[len(shrunk)-1-i]
		for k, f := range []linear.Factor{d.Ridge, d.Descent} {
			s := &kept.Series[k]
			s.X, s.Y = append(s.X, d.Sigma), append(s.Y, f.Measured)
		}
	}
	errors := chart.Lines{
		Frame:  chart.Frame{ID: "error", Title: "Error on wines not seen", Desc: "A little of either is best."},
		X:      "λ, or 1/(2ηt) after t steps",
		Y:      "mean squared error",
		LogX:   true,
		Series: []chart.Series{{Name: "ridge"}, {Name: "descent", Group: 1}},
	}
	add := func(k int, λ float64, w []float64, err error) error {
		s := &errors.Series[k]
		s.X, s.Y = append(s.X, λ), append(s.Y, meanSquare(unseen, w))
		return err
	}
	for steps := l.Few(1<<14, 1<<8); steps >= 1; steps /= 2 {
		λ := 1 / (2 * η * float64(steps))
		w, err := few.Descend(ctx, η, steps)
		if err := add(1, λ, w, err); err != nil {
			return err
		}
		w, err = few.Solve(λ)
		if err := add(0, λ, w, err); err != nil {
			return err
		}
	}
	return l.Picture("shrinkage.svg", func(w io.Writer) error { return chart.Panels(w, 2, kept, errors) })
}
