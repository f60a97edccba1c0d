package main

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// TestPrincipalAngles: of two planes in space that share a line and stand at 30 degrees.
func TestPrincipalAngles(t *testing.T) {
	tilted := []float64{0, math.Cos(math.Pi / 6), math.Sin(math.Pi / 6)}
	got, err := principalAngles([][]float64{{1, 0, 0}, {5, 2, 0}}, [][]float64{{-3, 0, 0}, tilted})
	if err != nil || len(got) != 2 || math.Abs(got[0]) > 1e-5 || math.Abs(got[1]-30) > 1e-9 {
		t.Errorf("angles %v, %v; want 0 and 30", got, err)
	}
}

// TestAutoencoder: a few steps bring it down, never below what PCA leaves.
func TestAutoencoder(t *testing.T) {
	ctx := context.Background()
	digits := data.Digits()
	pca, err := linear.NewPCA(digits)
	if err != nil {
		t.Fatal(err)
	}
	set, err := digits.Set("x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	trainer := &train.Trainer{Build: autoencoder, Optimiser: train.Adam(0.02)}
	defer trainer.Close()
	if err := trainer.Fit(ctx, train.Plan{Data: data.InOrder(set, 0), Steps: 300}); err != nil {
		t.Fatal(err)
	}
	made, left, err := reconstructed(ctx, trainer, set)
	if err != nil {
		t.Fatal(err)
	}
	if least := pca.Residual(code); !(left > least && left < 1.5*least) {
		t.Errorf("the autoencoder leaves %g, PCA %g", left, least)
	}
	sum := 0.0
	for i, v := range made.X {
		sum += (v - digits.X[i]) * (v - digits.X[i])
	}
	if sum /= float64(digits.Rows()); math.Abs(sum-left) > 1e-4*left {
		t.Errorf("the images that are drawn leave %g, the loss says %g", sum, left)
	}
}
