// Ablation switches label smoothing, dropout and normalisation on and off, one at a time, in a net
// that reads digits and is trained on few.
package main

import (
	"context"
	"os"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

func main() {
	seeds := lesson.Count("seeds", 2, 20, "trainings of each variant")
	rows := lesson.Count("rows", 2, 200, "images to train on, drawn anew for each seed")
	epochs := lesson.Count("epochs", 1, 200, "passes over them")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		fit, test, err := digits.Split()
		if err != nil {
			return err
		}
		all := variants()
		for i := range l.Few(*seeds, 2) {
			seed := l.Seed + uint64(i)
			// All variants see the same images in the same order, and their common parts start from
			// the same values, so that the influence of the seed cancels.
			few, err := fit.Subset(data.Order(seed, 0, fit.Rows())[:min(*rows, fit.Rows())])
			if err != nil {
				return err
			}
			for v := range all {
				t := &train.Trainer{Build: all[v].net, Optimiser: train.Adam(1e-3), Seed: seed, Workers: l.Workers}
				curve := &digits.Curve{}
				err := t.Fit(ctx, train.Plan{
					Data:      data.Shuffled(few, 32, seed),
					Epochs:    l.Few(*epochs, 2),
					Validate:  digits.Accuracy(t, test),
					Observers: append(l.Observers(), curve),
				})
				t.Close()
				if err != nil {
					return err
				}
				all[v].take(curve)
			}
		}
		if err := table(os.Stdout, all); err != nil {
			return err
		}
		if err := draw(l, all); err != nil {
			return err
		}
		_, smoothing := versus(all[0].wrong, all[1].wrong)
		return l.AtMost("errors with label smoothing, less those with nothing, in points", smoothing.mean, 0)
	})
}
