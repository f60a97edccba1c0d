package main

import (
	"context"
	"io"
	"math"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

// draw draws the model, the errors of all predictions, and some images with those of the net.
func draw(ctx context.Context, l *lesson.Lesson, t *train.Trainer, test *data.Set, all []result) error {
	if err := l.Draw("model.svg", net(64, train.Training).Loss); err != nil {
		return err
	}
	some, err := test.Subset([]int{0, 1, 3, 5, 6, 8, 9, 10})
	if err != nil {
		return err
	}
	images := chart.Images{
		Frame: chart.Frame{ID: "guesses", Title: "Crosses are missing pixels, which the net guesses from the others", Width: 640},
		Pixel: 6,
		Rows:  []chart.ImageRow{{Name: "image"}},
	}
	for i := range some.Rows() {
		images.Rows[0].Images = append(images.Rows[0].Images, digits.Image(some.Column("x").Data().([]float32)[64*i:64*i+64]))
	}
	for _, missing := range masks[1:] {
		hidden, err := missing.of(some, l.Seed)
		if err != nil {
			return err
		}
		shown, guessed, err := guesses(ctx, t, hidden)
		if err != nil {
			return err
		}
		images.Rows = append(images.Rows, chart.ImageRow{Name: missing.name, Images: shown}, chart.ImageRow{Name: "guessed", Images: guessed})
	}
	errors := chart.Bars{
		Frame:  chart.Frame{ID: "errors", Title: "Squared error of missing pixels, as a part of the ink's range squared", Width: 640},
		Series: []string{"mean of the pixel", "best linear guess", "net"},
	}
	for _, r := range all {
		errors.Rows = append(errors.Rows, chart.Row{Name: r.name, Values: []float64{r.mean, r.linear, r.net}})
	}
	return l.Picture("guesses.svg", func(w io.Writer) error { return chart.Panels(w, 1, images, errors) })
}

// guesses returns the images of a set without the missing pixels, and with the net's predictions
// there.
func guesses(ctx context.Context, t *train.Trainer, hidden *data.Set) (shown, guessed []chart.Image, err error) {
	err = t.Predict(ctx, data.InOrder(hidden, 0), func(b data.Batch, output *tensor.Dense) error {
		x, missing, guess := b.Values["x"].Data().([]float32), b.Values["missing"].Data().([]bool), output.Data().([]float32)
		for i := range b.Rows {
			left, whole := digits.Image(x[64*i:64*i+64]), digits.Image(x[64*i:64*i+64])
			for p := range 64 {
				if missing[64*i+p] {
					left.Values[p] = math.NaN()
					whole.Values[p] = 16 * max(0, float64(guess[64*i+p])) // ink cannot be less than none
				}
			}
			shown, guessed = append(shown, left), append(guessed, whole)
		}
		return nil
	})
	return shown, guessed, err
}
