package data_test

import (
	"context"
	"fmt"
	"log"

	"gorgonia.org/tensor"

	"github.com/tapestry-ml/tapestry/train/data"
)

// Splitting, standardising by the part that is fitted, changing at random, reading ahead:
// the digits, as a training takes them.
func ExampleSource() {
	ctx := context.Background()
	digits, err := data.Digits().Set("x", "y", tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	if digits, err = digits.Reshape("x", 8, 8); err != nil {
		log.Fatal(err)
	}
	parts, err := digits.StratifiedSplit("y", 1, 0.8, 0.2)
	if err != nil {
		log.Fatal(err)
	}
	scale, err := data.FitChannels(ctx, parts[0], "x")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean %.3f, deviation %.3f\n", scale.Mean[0], scale.Std[0])
	source := data.Prefetch(data.Map(data.Shuffled(parts[0], 512, 1), 1, scale.Change(), data.Noise("x", 0.1)), 2)
	defer source.Close()
	for source.Position().Epoch == 0 {
		at := source.Position()
		batch, err := source.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: %v of %v\n", at, batch.Values["x"].Shape(), batch.Values["x"].Dtype())
	}
	// Output:
	// mean 4.889, deviation 6.021
	// epoch 0, batch 0: (512, 8, 8) of float32
	// epoch 0, batch 1: (512, 8, 8) of float32
	// epoch 0, batch 2: (414, 8, 8) of float32
}
