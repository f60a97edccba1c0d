// Masked hides pixels of handwritten digits, and lets a net guess them from the others:
// the images are their own labels.
package main

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// net predicts the missing pixels. In training, each is missing with probability ρ, drawn anew in
// every step; in evaluation, the data's column "missing" decides.
func net(rows int, mode train.Mode) *train.Net {
	g := graph.New("masked reconstruction")
	x, _ := digits.Inputs(g, rows)
	var missing *graph.Node
	if mode == train.Training {
		missing = builders.Missing(x, g.Scalar("ρ", 0.5))
	} else {
		missing = g.Input("missing", graph.Bool, x.Shape().Axes()...)
	}
	guess := builders.NewMaskedAutoencoder(g, graph.F32, graph.Ax("p", 64), graph.Ax("h", 512)).Of(x, missing)
	return &train.Net{Loss: builders.MissingSquaredError(guess, x, missing).As("loss"), Output: guess}
}

func main() {
	epochs := lesson.Count("epochs", 1, 1000, "passes over the data")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		fit, test, err := digits.Split()
		if err != nil {
			return err
		}
		source := data.Shuffled(fit, 64, l.Seed)
		steps := l.Few(*epochs, 2) * source.Batches()
		t := &train.Trainer{Build: net, Optimiser: train.Adam(3e-3), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		err = t.Fit(ctx, l.Plan("masked", train.Plan{Data: source, Steps: steps, Rate: train.Cosine(3e-3, steps)}))
		if err != nil {
			return err
		}
		best := newLinear(fit)
		var all []result
		for _, missing := range masks {
			r, err := missing.result(ctx, t, best, test, l.Seed)
			if err != nil {
				return err
			}
			fmt.Println(r)
			all = append(all, r)
		}
		if err := draw(ctx, l, t, test, all); err != nil {
			return err
		}
		half := all[1]
		return l.AtMost("with half of the pixels missing, the net's error over that of the means", half.net/half.mean, 0.45)
	})
}
