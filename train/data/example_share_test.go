package data_test

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Two programs train together, each on half of every batch.
func ExampleShare() {
	set, err := data.NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithBacking([]float32{0, 1, 2, 3, 4, 5, 6}))})
	if err != nil {
		fmt.Println(err)
		return
	}
	for rank := range 2 {
		half := func(rows int) (from, to int) { return rank * rows / 2, (rank + 1) * rows / 2 }
		source := data.Share(data.InOrder(set, 4), half)
		for range source.Batches() {
			b, err := source.Next(context.Background())
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("rank %d: rows %d to %d of %d: %v\n", rank, b.From, b.From+b.Rows-1, b.Of, b.Values["x"].Data())
		}
	}
	// Output:
	// rank 0: rows 0 to 1 of 4: [0 1]
	// rank 0: rows 0 to 0 of 3: [4]
	// rank 1: rows 2 to 3 of 4: [2 3]
	// rank 1: rows 1 to 2 of 3: [5 6]
}
