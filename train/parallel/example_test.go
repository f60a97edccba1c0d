package parallel_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// Two ranks, here of one process, add up what eight lanes computed.
func Example() {
	totals := make([]float32, 2)
	var wait sync.WaitGroup
	for rank, transport := range parallel.Local(2) {
		wait.Go(func() {
			ctx := context.Background()
			ranks, err := parallel.Join(ctx, transport, parallel.Config{Lanes: 8})
			if err != nil {
				fmt.Println(err)
				return
			}
			defer ranks.Close()
			from, to := ranks.Own()
			bucket := ranks.NewBucket(1, 0)
			for lane := from; lane < to; lane++ {
				first, last := ranks.Rows(lane, 100) // of a batch of 100 rows
				bucket.Put(lane, parallel.Part{Scale: 0.01, F32: []float32{float32(last - first)}})
			}
			if err := bucket.Sum(ctx); err != nil {
				ranks.Abort(err)
				fmt.Println(err)
				return
			}
			sum, _ := bucket.Total()
			totals[rank] = sum[0]
		})
	}
	wait.Wait()
	fmt.Println(totals)
	// Output: [1 1]
}

// What must be the same on all ranks is compared, and what differs is named on each of them.
func ExampleRanks_Agree() {
	var wait sync.WaitGroup
	for rank, transport := range parallel.Local(3) {
		wait.Go(func() {
			ctx := context.Background()
			ranks, err := parallel.Join(ctx, transport, parallel.Config{Lanes: 24})
			if err != nil {
				fmt.Println(err)
				return
			}
			seed := []string{"1", "7", "1"}[rank]
			err = ranks.Agree(ctx, parallel.Fact{Name: "graph", Value: "8c1f"}, parallel.Fact{Name: "seed", Value: seed})
			if rank == 0 {
				fmt.Println(err)
			}
		})
	}
	wait.Wait()
	// Output: parallel: ranks differ in seed: 1 on ranks 0, 2; 7 on rank 1
}
