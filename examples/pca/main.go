// Pca squeezes images of digits through ten numbers, once by principal component analysis and
// once by a linear autoencoder that gradient descent trains, and shows that both keep the same.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
	"gorgonia.org/tensor"
)

const pixels, code = 64, 10

// autoencoder is y = x·A + a, x̂ = y·B + b, with ten numbers y.
func autoencoder(rows int, _ train.Mode) *train.Net {
	g := graph.New("linear autoencoder")
	p, k := graph.Ax("p", pixels), graph.Ax("k", code)
	x := g.Input("x", graph.F32, graph.Ax("n", rows), p)
	made := builders.NewLinearAutoencoder(g, graph.F32, p, k, true).Of(x)
	return &train.Net{Loss: builders.ReconstructionError(x, made).As("loss"), Output: made}
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		digits := data.Digits()
		pca, err := linear.NewPCA(digits)
		if err != nil {
			return err
		}
		set, err := digits.Set("x", "y", tensor.Float32)
		if err != nil {
			return err
		}
		steps := l.Few(20_000, 200)
		t := &train.Trainer{Build: autoencoder, Optimiser: train.Adam(0.05), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		var losses []float64
		err = t.Fit(ctx, train.Plan{
			Data: data.InOrder(set, 0), Steps: steps, Rate: train.Geometric(0.05, 0.0005),
			Observers: append(l.Observers(), train.ObserverFunc(func(e train.Event) error {
				if e.Kind == train.Stepped {
					losses = append(losses, e.Loss)
				}
				return nil
			})),
		})
		if err != nil {
			return err
		}
		made, left, err := reconstructed(ctx, t, set)
		if err != nil {
			return err
		}
		decoder, err := t.Store().Get("decoder/B")
		if err != nil {
			return err
		}
		angles, err := principalAngles(pca.Axes[:code], rows(decoder.Float32s()))
		if err != nil {
			return err
		}
		for _, e := range viz.Equations(autoencoder(digits.Rows(), train.Training).Loss) {
			fmt.Println(viz.Formula(e.Node))
		}
		fmt.Printf("\n%d digits through %d numbers: PCA leaves %.3f of %.1f, the autoencoder %.3f\n", digits.Rows(), code, pca.Residual(code), pca.Residual(0), left)
		fmt.Printf("principal angles between the subspaces, in degrees: %.2f\n", angles)
		return errors.Join(
			l.Picture("eigendigits.svg", eigendigits(pca, made, rows(decoder.Float32s()), digits)),
			l.Picture("residual.svg", residual(losses, pca.Residual(code))),
			l.AtMost("left by the autoencoder", left, 316.1),
			l.AtLeast("and not less than PCA, the least there is", left/pca.Residual(code), 1-1e-4),
			l.AtMost("largest angle between the subspaces, in degrees", angles[code-1], 0.1),
		)
	})
}

// reconstructed returns the autoencoder's reconstructions of the digits, and the mean of ‖x − x̂‖².
func reconstructed(ctx context.Context, t *train.Trainer, set *data.Set) (*data.Table, float64, error) {
	scores, err := t.Evaluate(ctx, data.InOrder(set, 0))
	if err != nil {
		return nil, 0, err
	}
	made := &data.Table{Columns: data.Digits().Columns}
	err = t.Predict(ctx, data.InOrder(set, 0), func(_ data.Batch, output *tensor.Dense) error {
		for _, v := range output.Float32s() {
			made.X = append(made.X, float64(v))
		}
		return nil
	})
	left, _ := scores.Get("loss")
	return made, left, err
}

// rows are those of the matrix B[k p], as numbers that are computed with.
func rows(b []float32) [][]float64 {
	out := make([][]float64, len(b)/pixels)
	for i, v := range b {
		out[i/pixels] = append(out[i/pixels], float64(v))
	}
	return out
}

func degrees(cosine float64) float64 { return math.Acos(min(1, cosine)) * 180 / math.Pi }
