package main

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

func TestLearns(t *testing.T) {
	fit, test, err := digits.Split()
	if err != nil {
		t.Fatal(err)
	}
	trainer := &train.Trainer{Build: mlp, Optimiser: train.Adam(1e-3), Seed: 1}
	defer trainer.Close()
	curve := &digits.Curve{}
	err = trainer.Fit(context.Background(), train.Plan{
		Data: data.Shuffled(fit, 64, 1), Epochs: 4,
		Validate: digits.Accuracy(trainer, test), Observers: []train.Observer{curve},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(curve.Loss); n != 4 || curve.Loss[3] > 0.5*curve.Loss[0] {
		t.Errorf("losses %v: want four that fall to less than half", curve.Loss)
	}
	if curve.Final() < 0.8 {
		t.Errorf("accuracy %v after four epochs: want at least 0.8", curve.Final())
	}
	readings, err := digits.Read(context.Background(), trainer, test)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, r := range readings {
		if r.Read == r.Digit {
			right++
		}
	}
	if got := float64(right) / float64(test.Rows()); got != curve.Final() {
		t.Errorf("%v of the readings are right, but the accuracy is %v", got, curve.Final())
	}
}
