package main

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

func TestGuesses(t *testing.T) {
	fit, test, err := digits.Split()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	trainer := &train.Trainer{Build: net, Optimiser: train.Adam(3e-3)}
	defer trainer.Close()
	curve := &digits.Curve{}
	if err := trainer.Fit(ctx, train.Plan{Data: data.Shuffled(fit, 64, 0), Epochs: 10, Observers: []train.Observer{curve}}); err != nil {
		t.Fatal(err)
	}
	half := masks[1]
	r, err := half.result(ctx, trainer, newLinear(fit), test, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !(r.linear < 0.5*r.mean && r.net < 0.9*r.mean) {
		t.Errorf("%v: want a linear guess twice as good as the mean, and a net that begins to learn", r)
	}
	hidden, err := half.of(test, 0)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, m := range hidden.Column("missing").Data().([]bool) {
		if m {
			missing++
		}
	}
	if share := float64(missing) / float64(64*test.Rows()); share < 0.49 || share > 0.51 {
		t.Errorf("%.3f of the pixels are missing: want half", share)
	}
	// What is missing is not read: the guess stays as the ink behind the mask changes.
	_, before, err := guesses(ctx, trainer, hidden)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range hidden.Column("missing").Data().([]bool) {
		if m {
			hidden.Column("x").Data().([]float32)[i] = 16 - hidden.Column("x").Data().([]float32)[i]
		}
	}
	_, after, err := guesses(ctx, trainer, hidden)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		for p := range before[i].Values {
			if before[i].Values[p] != after[i].Values[p] {
				t.Fatalf("image %d, pixel %d: %v, but %v where other ink is hidden", i, p, before[i].Values[p], after[i].Values[p])
			}
		}
	}
}
