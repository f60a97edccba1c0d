package scaling

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// recorded is a transport that notes the exchanges of a rank.
type recorded struct {
	parallel.Transport
	list []Exchange // A is the rank
}

func (r *recorded) Exchange(ctx context.Context, peer int, send, recv []byte) error {
	r.list = append(r.list, Exchange{r.Rank(), peer, float64(len(send)), float64(len(recv))})
	return r.Transport.Exchange(ctx, peer, send, recv)
}

// sum returns the exchanges of each rank in a sum of package train/parallel, or in one of which each rank
// gets so many values and sends them on.
func sum(t *testing.T, ranks, lanes, values int, parts []int) [][]Exchange {
	t.Helper()
	transports := parallel.Local(ranks)
	out, errs := make([][]Exchange, ranks), make([]error, ranks)
	var all sync.WaitGroup
	for rank, local := range transports {
		all.Go(func() {
			rec := &recorded{Transport: local}
			errs[rank] = func() error {
				r, err := parallel.Join(t.Context(), rec, parallel.Config{Lanes: ranks * lanes, Timeout: 10 * time.Second})
				if err != nil {
					return err
				}
				b := r.NewBucket(values, 0)
				rec.list = nil
				terms := make([]float32, values)
				for lane := rank * lanes; lane < (rank+1)*lanes; lane++ {
					b.Put(lane, parallel.Part{Scale: 1, F32: terms})
				}
				if parts == nil {
					err = b.Sum(t.Context())
				} else {
					ranges, at := make([]parallel.Range, ranks), 0
					for q, n := range parts {
						ranges[q].F32 = [2]int{at, at + n}
						at += n
					}
					if err = b.ReduceScatter(t.Context(), ranges); err == nil {
						err = b.AllGather(t.Context(), ranges)
					}
				}
				out[rank] = rec.list
				return err
			}()
			if errs[rank] != nil {
				local.Abort(errs[rank])
			}
		})
	}
	all.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("%d ranks of %d lanes, %d values: rank %d: %v", ranks, lanes, values, rank, err)
		}
	}
	return out
}

// TestTree: each rank exchanges with the same ranks, in the same order and as many bytes, in the
// schedule and in package train/parallel.
func TestTree(t *testing.T) {
	for _, c := range []struct{ ranks, lanes, values int }{
		{2, 1, 100_000}, {2, 4, 100_000}, {8, 1, 100_000}, {16, 2, 100_000}, {64, 1, 100_000}, // groups alone
		{3, 1, 100_000}, {3, 4, 100_000}, {6, 4, 100_000}, {12, 2, 100_000}, {24, 1, 100_000}, {5, 1, 100_000}, // pairs of groups
		{2, 6, 100_000}, {4, 3, 100_000}, {8, 3, 100_000}, {3, 5, 100_000}, // several subtrees a rank
		{8, 1, 100}, {6, 1, 100}, {4, 3, 100}, {2, 1, 1000}, {3, 5, 3000}, // whole terms
	} {
		want := sum(t, c.ranks, c.lanes, c.values, nil)
		compare(t, c.ranks, c.lanes, tree(c.ranks, c.lanes, float64(4*c.values)), want)
	}
}

// TestTreeShards is TestTree for parts that differ.
func TestTreeShards(t *testing.T) {
	for _, c := range []struct {
		lanes int
		parts []int // values
	}{
		{1, []int{3000, 1000}},
		{4, []int{9000, 1000, 2000, 500}},
		{1, []int{100, 100, 9000, 100, 100, 100, 100, 700}},
		{4, []int{5000, 1000, 2000}},
		{1, []int{100, 900, 200, 800, 300, 700}},
		{3, []int{8000, 1000, 400, 600}},
	} {
		values := 10 // of all ranks
		bytes := make([]float64, len(c.parts))
		for rank, n := range c.parts {
			values += n
			bytes[rank] = float64(4 * n)
		}
		want := sum(t, len(c.parts), c.lanes, values, c.parts)
		for rank := range want { // those to whom the loss is still to come are told of it; others send nothing
			want[rank] = slices.DeleteFunc(want[rank], func(e Exchange) bool { return max(e.There, e.Back) <= 40 })
		}
		phases := func(yield func(Phase) bool) {
			for p := range treeShards(c.lanes, bytes) {
				p.Exchanges = slices.DeleteFunc(p.Exchanges, func(e Exchange) bool { return max(e.There, e.Back) == 0 })
				if !yield(p) {
					return
				}
			}
		}
		compare(t, len(c.parts), c.lanes, phases, want)
	}
}

// compare compares the exchanges of a schedule with those that each rank had.
func compare(t *testing.T, ranks, lanes int, phases iter.Seq[Phase], want [][]Exchange) {
	t.Helper()
	if t.Failed() {
		return
	}
	got := make([][]Exchange, ranks)
	for p := range phases {
		for _, e := range p.Exchanges {
			got[e.A] = append(got[e.A], e)
			got[e.B] = append(got[e.B], Exchange{e.B, e.A, e.Back, e.There})
		}
	}
	for rank := range want {
		if len(got[rank]) != len(want[rank]) {
			t.Errorf("%d ranks of %d lanes: rank %d has exchanges %v, want %v", ranks, lanes, rank, got[rank], want[rank])
			continue
		}
		for i, w := range want[rank] {
			g := got[rank][i]
			off := 0.01*math.Max(w.There, w.Back) + 64 // runs end at words
			if g.B != w.B || math.Abs(g.There-w.There) > off || math.Abs(g.Back-w.Back) > off {
				t.Errorf("%d ranks of %d lanes: exchange %d of rank %d is %v, want %v", ranks, lanes, i, rank, g, w)
			}
		}
	}
}
