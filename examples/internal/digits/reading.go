package digits

import (
	"context"
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

// Reading is an image, what it shows, and what a net reads.
type Reading struct {
	Image       []float32 // 8×8 pixels from 0 to 16
	Digit, Read int
}

// Read has a net, whose output is scores[n 10], read the images of a set.
func Read(ctx context.Context, t *train.Trainer, set *data.Set) ([]Reading, error) {
	var readings []Reading
	err := t.Predict(ctx, data.InOrder(set, 0), func(b data.Batch, output *tensor.Dense) error {
		scores, images, labels := output.Data().([]float32), b.Values["x"].Data().([]float32), b.Values["y"].Data().([]int32)
		for i, digit := range labels {
			read := 0
			for k, s := range scores[10*i : 10*i+10] {
				if s > scores[10*i+read] {
					read = k
				}
			}
			readings = append(readings, Reading{images[64*i : 64*i+64], int(digit), read})
		}
		return nil
	})
	return readings, err
}

// Mistakes draws how often each digit was read as which, and the images that were read
// wrongly, the first 24 of them.
func Mistakes(readings []Reading) func(w io.Writer) error {
	return func(w io.Writer) error {
		names := make([]string, 10)
		values := make([][]float64, 10)
		for k := range names {
			names[k], values[k] = fmt.Sprint(k), make([]float64, 10)
		}
		var row chart.ImageRow
		wrong := 0
		for _, r := range readings {
			values[r.Digit][r.Read]++
			if r.Digit != r.Read {
				if wrong++; wrong <= 24 {
					image := Image(r.Image)
					image.Caption = fmt.Sprintf("%d as %d", r.Digit, r.Read)
					row.Images = append(row.Images, image)
				}
			}
		}
		matrix := chart.Matrix{
			Frame: chart.Frame{ID: "confusion", Title: fmt.Sprintf("%d digits, and what they were read as", len(readings)), Desc: "The diagonal is right."},
			Down:  "digit", Across: "read as", Rows: names, Columns: names, Values: values,
		}
		title := fmt.Sprintf("The %d that were read wrongly", wrong)
		if wrong > 24 {
			title = fmt.Sprintf("24 of the %d that were read wrongly", wrong)
		}
		images := chart.Images{Frame: chart.Frame{ID: "mistakes", Title: title}, Rows: []chart.ImageRow{row}}
		return chart.Panels(w, 2, matrix, images)
	}
}

// Image is 8×8 pixels from 0 to 16, NaN where they are missing, to be drawn.
func Image(pixels []float32) chart.Image {
	values := make([]float64, len(pixels))
	for i, v := range pixels {
		values[i] = float64(v)
	}
	return chart.Image{Columns: 8, Values: values, Full: 16}
}
