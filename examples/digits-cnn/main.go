// Digits-cnn reads handwritten digits with a convolutional net, and draws its filters and the
// features that they find.
package main

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// cnn is two convolutions of 3×3 with 16 and 32 channels, each followed by ReLU and the
// maximum over 2×2, and a linear layer.
func cnn(rows int, _ train.Mode) *train.Net {
	g := graph.New("digits: CNN")
	c, d, e, k := graph.Ax("c", 1), graph.Ax("d", 16), graph.Ax("e", 32), graph.Ax("k", 10)
	ink, y := digits.Inputs(g, rows)
	conv1 := nn.NewConv2D(g, "conv1", graph.F32, c, d, ops.Size(3), ops.Same())
	conv2 := nn.NewConv2D(g, "conv2", graph.F32, d, e, ops.Size(3), ops.Same())
	u := ops.ReLU(conv1.Of(digits.AsImage(ink))).As("u")
	v := ops.ReLU(conv2.Of(ops.MaxPool2D(u, ops.Size(2)).As("u↓"))).As("v")
	flat := ops.Merge(ops.MaxPool2D(v, ops.Size(2)).As("v↓"), "f", "h", "w", "e")
	logits := nn.NewLinear(g, "fc", graph.F32, graph.Ax("f", 128), k).Of(flat).As("z")
	return &train.Net{Loss: nn.CrossEntropy(logits, y).As("loss"), Output: logits}
}

func main() {
	seeds := lesson.Count("seeds", 1, 5, "trainings")
	epochs := lesson.Count("epochs", 1, 20, "passes over the data")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		fit, test, err := digits.Split()
		if err != nil {
			return err
		}
		var accuracies []float64
		for i := range l.Few(*seeds, 2) {
			seed := l.Seed + uint64(i)
			t := &train.Trainer{Build: cnn, Optimiser: train.Adam(1e-3), Seed: seed, Workers: l.Workers}
			defer t.Close()
			err := t.Fit(ctx, l.Plan(fmt.Sprint("seed-", seed), train.Plan{
				Data:        data.Shuffled(fit, 64, seed),
				Epochs:      l.Few(*epochs, 2),
				Checkpoints: train.Checkpoints{Meta: digits.Classes()},
			}))
			if err != nil {
				return err
			}
			scores, err := digits.Accuracy(t, test)(ctx)
			if err != nil {
				return err
			}
			accuracy, _ := scores.Get("accuracy")
			fmt.Printf("seed %d: accuracy %.4f\n", seed, accuracy)
			accuracies = append(accuracies, accuracy)
			if i == 0 {
				if err := draw(ctx, l, t, test); err != nil {
					return err
				}
			}
		}
		return l.AtLeast("median accuracy", lab.Median(accuracies), 0.960)
	})
}

// draw draws the model, the digits that a trained one reads wrongly, and the features that it
// finds.
func draw(ctx context.Context, l *lesson.Lesson, t *train.Trainer, test *data.Set) error {
	if err := l.Draw("model.svg", cnn(64, train.Training).Loss); err != nil {
		return err
	}
	readings, err := digits.Read(ctx, t, test)
	if err != nil {
		return err
	}
	if err := l.Picture("mistakes.svg", digits.Mistakes(readings)); err != nil {
		return err
	}
	features, err := see(ctx, t, test)
	if err != nil {
		return err
	}
	return l.Picture("features.svg", features)
}
