package parallel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// BenchmarkPut adds 8 lanes of one rank, and reports the bytes of the lanes' terms by second.
func BenchmarkPut(b *testing.B) {
	for _, n := range []int{1 << 12, 1 << 18, 1 << 23} {
		for _, scale := range []float64{1, 0.125} {
			b.Run(fmt.Sprintf("values=%d/scale=%g", n, scale), func(b *testing.B) {
				x := make([]float32, n)
				for i := range x {
					x[i] = float32(i)
				}
				bucket := alone(b, 8).NewBucket(n, 0)
				b.SetBytes(8 * 4 * int64(n))
				for b.Loop() {
					for lane := range 8 {
						bucket.Put(lane, parallel.Part{Scale: scale, F32: x})
					}
					if err := bucket.Sum(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkSum adds one lane of each rank, within one process.
func BenchmarkSum(b *testing.B) {
	for _, n := range []int{1, 1 << 12, 1 << 18, 1 << 22} {
		for _, ranks := range []int{2, 3, 4, 8} {
			b.Run(fmt.Sprintf("values=%d/ranks=%d", n, ranks), func(b *testing.B) {
				x := make([]float32, n)
				steps := b.N
				b.SetBytes(4 * int64(n))
				b.ResetTimer()
				for rank, err := range job(ranks, parallel.Config{Lanes: ranks}, func(r *parallel.Ranks) error {
					bucket := r.NewBucket(n, 0)
					for range steps {
						bucket.Put(r.Rank(), parallel.Part{Scale: 1, F32: x})
						if err := bucket.Sum(context.Background()); err != nil {
							return err
						}
					}
					return nil
				}) {
					if err != nil {
						b.Fatal(rank, err)
					}
				}
			})
		}
	}
}
