package main

import (
	"io"
	"math"

	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// eigendigits draws the axes of both, and what both make of the first digits.
func eigendigits(pca *linear.PCA, made *data.Table, decoder [][]float64, digits *data.Table) func(io.Writer) error {
	return func(w io.Writer) error {
		again, err := linear.NewPCA(made)
		if err != nil {
			return err
		}
		by := &data.Table{X: make([]float64, code*pixels)}
		for i := range code {
			copy(by.X[i*pixels:], project(pca, digits.X[i*pixels:(i+1)*pixels]))
		}
		axes := chart.Images{
			Frame: chart.Frame{ID: "axes", Title: "Ten directions", Width: 740},
			Rows: []chart.ImageRow{
				{Name: "PCA's axes", Images: images(pca.Axes[:code], 0)},
				{Name: "decoder's rows", Images: images(decoder, 0)},
				{Name: "what it makes", Images: images(again.Axes[:code], 0)},
			},
		}
		seen := chart.Images{
			Frame: chart.Frame{ID: "digits", Title: "Ten digits through ten numbers", Width: 740},
			Rows: []chart.ImageRow{
				{Name: "digits", Images: images(split(digits.X), 16)},
				{Name: "by PCA", Images: images(split(by.X), 16)},
				{Name: "by the autoencoder", Images: images(split(made.X), 16)},
			},
		}
		return chart.Panels(w, 1, axes, seen)
	}
}

// project returns the projection of a digit onto the first axes.
func project(pca *linear.PCA, x []float64) []float64 {
	kept := append([]float64(nil), pca.Mean...)
	for _, axis := range pca.Axes[:code] {
		along := 0.0
		for p, v := range axis {
			along += v * (x[p] - pca.Mean[p])
		}
		for p, v := range axis {
			kept[p] += along * v
		}
	}
	return kept
}

// split are the first ten images.
func split(x []float64) (out [][]float64) {
	for i := range code {
		out = append(out, x[i*pixels:(i+1)*pixels])
	}
	return out
}

func images(values [][]float64, full float64) (out []chart.Image) {
	for _, v := range values {
		out = append(out, chart.Image{Columns: 8, Values: v, Full: full})
	}
	return out
}

// residual draws how the loss approaches the residual of PCA during training.
func residual(losses []float64, least float64) func(io.Writer) error {
	left := chart.Series{Name: "autoencoder"}
	more, lowest := chart.Series{}, math.Inf(1)
	for step, v := range losses {
		left.X, left.Y = append(left.X, float64(step+1)), append(left.Y, v)
		if lowest = min(lowest, v); lowest > least { // in float32 it may come out less by rounding
			more.X, more.Y = append(more.X, float64(step+1)), append(more.Y, lowest-least)
		}
	}
	return func(w io.Writer) error {
		return chart.Panels(w, 2, chart.Lines{
			Frame: chart.Frame{ID: "residual", Title: "What the autoencoder leaves", Desc: "It comes down to what PCA leaves."},
			X:     "step", Y: "mean ‖x − x̂‖²", LogX: true, LogY: true,
			Series: []chart.Series{left}, Rules: []chart.Rule{{Name: "PCA", Y: least}},
		}, chart.Lines{
			Frame: chart.Frame{ID: "excess", Title: "More than PCA leaves", Desc: "The last of the ten directions takes longest: it has the least variance."},
			X:     "step", Y: "mean ‖x − x̂‖² − 314.515, least so far", LogX: true, LogY: true,
			Series: []chart.Series{more},
		})
	}
}
