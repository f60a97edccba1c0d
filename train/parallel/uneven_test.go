package parallel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// TestSumOfUnevenRanks: of 15 lanes on 3 ranks, those of rank 0 are two subtrees and those of rank 1
// are three. All ranks choose the same schedule for any size of the bucket all the same.
func TestSumOfUnevenRanks(t *testing.T) {
	for values := 2000; values < 5000; values += 250 {
		list := terms(15, values, 0)
		want, _ := reference(list)
		must(t, job(3, parallel.Config{Lanes: 15}, func(r *parallel.Ranks) error {
			b := r.NewBucket(values, 0)
			put(b, r, list)
			if err := b.Sum(context.Background()); err != nil {
				r.Abort(err)
				return err
			}
			if got, _ := b.Total(); !same(got, want) {
				return errors.New("other bits")
			}
			return nil
		}))
	}
}
