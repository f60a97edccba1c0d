package main

import (
	"context"
	"io"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

// see returns a picture of the filters of the first convolution, and of the features that both
// convolutions find in two images.
func see(ctx context.Context, t *train.Trainer, test *data.Set) (func(w io.Writer) error, error) {
	some, err := test.Subset([]int{1, 2})
	if err != nil {
		return nil, err
	}
	var rows []chart.ImageRow
	err = t.Look(ctx, data.InOrder(some, 0), []string{"conv1/w", "image", "u", "v"}, func(b data.Batch, values []*tensor.Dense) error {
		rows = []chart.ImageRow{{Name: "filters", Images: channels(values[0].Float32s(), 3, 16, 0)}}
		for i := range b.Rows {
			of := func(v *tensor.Dense) []float32 {
				n := v.Size() / b.Rows
				return v.Float32s()[i*n : (i+1)*n]
			}
			rows = append(rows,
				chart.ImageRow{Name: "image", Images: channels(of(values[1]), 8, 1, 1)},
				chart.ImageRow{Name: "first convolution", Images: channels(of(values[2]), 8, 16, 0)},
				chart.ImageRow{Name: "second convolution", Images: channels(of(values[3]), 4, 32, 0)})
		}
		return nil
	})
	return func(w io.Writer) error {
		return chart.Panels(w, 1, chart.Images{
			Frame: chart.Frame{ID: "features", Title: "What the convolutions see", Width: 800,
				Desc: "Dark is positive; in the filters, orange is negative."},
			Rows: rows,
		})
	}, err
}

// side is how large images are drawn, in pixels.
const side = 32

// channels are those of x[h w c], or of filters[h w 1 c], as images, of which full ink is the
// largest value of all unless it is given.
func channels(x []float32, width, channels int, full float64) []chart.Image {
	if full == 0 {
		for _, v := range x {
			full = max(full, float64(v), -float64(v))
		}
	}
	images := make([]chart.Image, channels)
	for i := range images {
		images[i] = chart.Image{Columns: width, Full: full, Pixel: side / float64(width)}
		for at := i; at < len(x); at += channels {
			images[i].Values = append(images[i].Values, float64(x[at]))
		}
	}
	return images
}
