package main

import (
	"context"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

func TestLearnsAndShows(t *testing.T) {
	fit, test, err := digits.Split()
	if err != nil {
		t.Fatal(err)
	}
	trainer := &train.Trainer{Build: cnn, Optimiser: train.Adam(1e-3), Seed: 1}
	defer trainer.Close()
	curve := &digits.Curve{}
	err = trainer.Fit(context.Background(), train.Plan{Data: data.Shuffled(fit, 64, 1), Epochs: 4, Observers: []train.Observer{curve}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(curve.Loss); n != 4 || curve.Loss[3] > 0.5*curve.Loss[0] {
		t.Errorf("losses %v: want four that fall to less than half", curve.Loss)
	}
	features, err := see(context.Background(), trainer, test)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := features(&b); err != nil {
		t.Fatal(err)
	}
	// 16 filters; for each of two images, itself, 16 maps and 32.
	if got, want := strings.Count(b.String(), "crispEdges"), 16+2*(1+16+32); got != want {
		t.Errorf("%d images in the picture of the features: want %d", got, want)
	}
}
