// Digits reads handwritten digits with a multilayer perceptron.
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

// mlp is 64-128-64-10 with ReLU between the layers.
func mlp(rows int, _ train.Mode) *train.Net {
	g := graph.New("digits: MLP")
	p, h, m, k := graph.Ax("p", 64), graph.Ax("h", 128), graph.Ax("m", 64), graph.Ax("k", 10)
	ink, y := digits.Inputs(g, rows)
	h1 := ops.ReLU(nn.NewLinear(g, "fc1", graph.F32, p, h).Of(ink)).As("h₁")
	h2 := ops.ReLU(nn.NewLinear(g, "fc2", graph.F32, h, m).Of(h1)).As("h₂")
	logits := nn.NewLinear(g, "fc3", graph.F32, m, k).Of(h2).As("z")
	return &train.Net{Loss: nn.CrossEntropy(logits, y).As("loss"), Output: logits}
}

func main() {
	seeds := lesson.Count("seeds", 1, 5, "trainings")
	epochs := lesson.Count("epochs", 1, 30, "passes over the data")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		fit, test, err := digits.Split()
		if err != nil {
			return err
		}
		var curves []*digits.Curve
		var accuracies []float64
		for i := range l.Few(*seeds, 2) {
			seed := l.Seed + uint64(i)
			t := &train.Trainer{Build: mlp, Optimiser: train.Adam(1e-3), Seed: seed, Workers: l.Workers}
			defer t.Close()
			curve, measure, n := &digits.Curve{}, digits.Accuracy(t, test), l.Few(*epochs, 2)
			err := t.Fit(ctx, l.Plan(fmt.Sprint("seed-", seed), train.Plan{
				Data:        data.Shuffled(fit, 64, seed),
				Epochs:      n,
				Validate:    measure,
				Checkpoints: train.Checkpoints{Meta: digits.Classes()},
				Observers:   []train.Observer{curve},
			}))
			if err != nil {
				return err
			}
			scores, err := measure(ctx)
			if err != nil {
				return err
			}
			accuracy, _ := scores.Get("accuracy")
			fmt.Printf("seed %d: accuracy %.4f\n", seed, accuracy)
			accuracies = append(accuracies, accuracy)
			if len(curve.Accuracy) == n { // a resumed training lacks its beginning
				curves = append(curves, curve)
			}
			if i == 0 {
				if err := draw(ctx, l, t, test); err != nil {
					return err
				}
			}
		}
		if len(curves) > 0 {
			if err := l.Picture("learning.svg", digits.Learning(curves)); err != nil {
				return err
			}
		}
		return l.AtLeast("median accuracy", lab.Median(accuracies), 0.950)
	})
}

// draw draws the model, and the digits that a trained one reads wrongly.
func draw(ctx context.Context, l *lesson.Lesson, t *train.Trainer, test *data.Set) error {
	if err := l.Draw("model.svg", mlp(64, train.Training).Loss); err != nil {
		return err
	}
	readings, err := digits.Read(ctx, t, test)
	if err != nil {
		return err
	}
	return l.Picture("mistakes.svg", digits.Mistakes(readings))
}
