package main

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// TestFilm: training brings the loss down, and what the film shows is what the net computes.
func TestFilm(t *testing.T) {
	ctx := context.Background()
	set, err := points(1, 60, func(x float64) float64 { return math.Sin(3 * x) })
	if err != nil {
		t.Fatal(err)
	}
	trainer := &train.Trainer{Build: elbows, Optimiser: train.Adam(0.02)}
	defer trainer.Close()
	all := data.InOrder(set, 0)
	before, err := trainer.Evaluate(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	film := &film{trainer: trainer}
	if err := trainer.Fit(ctx, train.Plan{Data: all, Steps: 300, Observers: []train.Observer{film}}); err != nil {
		t.Fatal(err)
	}
	after, err := trainer.Evaluate(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	if !(after[0].Value < 0.1*before[0].Value) {
		t.Errorf("%v before, %v after", before, after)
	}
	if len(film.shots) != 301 {
		t.Fatalf("%d shots of 300 steps", len(film.shots))
	}
	last := film.shots[300]
	err = trainer.Predict(ctx, all, func(b data.Batch, output *tensor.Dense) error {
		for i, want := range output.Float64s() {
			if got := last.at(b.Values["x"].Float64s()[i]); math.Abs(got-want) > 1e-12 {
				t.Errorf("the film has ŷ = %v, the net %v", got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
