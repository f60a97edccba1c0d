package parallel_test

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

func alone(t testing.TB, lanes int) *parallel.Ranks {
	t.Helper()
	r, err := parallel.Alone(parallel.Config{Lanes: lanes})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPutZeros: values that a lane lacks are added as zeros, so that −0 + nothing is 0 wherever the
// lane is.
func TestPutZeros(t *testing.T) {
	minus := float32(math.Copysign(0, -1))
	for _, ranks := range []int{1, 2, 4} {
		for empty := range 4 {
			must(t, job(ranks, parallel.Config{Lanes: 4}, func(r *parallel.Ranks) error {
				b := r.NewBucket(2, 1)
				from, to := r.Own()
				for lane := from; lane < to; lane++ {
					switch {
					case lane != empty:
						b.Put(lane, parallel.Part{Scale: 1, F32: []float32{minus, minus}}, parallel.Part{Scale: 1, F64: []float64{1}})
					case lane%2 == 0:
						b.Put(lane)
					default:
						b.Put(lane, parallel.Part{Scale: 1, F32: []float32{minus}})
					}
				}
				if err := b.Sum(context.Background()); err != nil {
					return err
				}
				x, y := b.Total()
				if math.Signbit(float64(x[1])) || y[0] != 3 || math.Signbit(float64(x[0])) != (empty%2 == 1) {
					return fmt.Errorf("without lane %d: %g %g", empty, x, y)
				}
				return nil
			}))
		}
	}
}

// TestPutRounds: a product is rounded before it is added.
func TestPutRounds(t *testing.T) {
	r := alone(t, 2)
	b := r.NewBucket(9, 9)
	x, y := make([]float32, 9), make([]float64, 9)
	for i := range x {
		x[i], y[i] = 1+1.0/(1<<20), 1+1.0/(1<<40)
	}
	b.Put(0, parallel.Part{Scale: -1, F32: x, F64: y})
	b.Put(1, parallel.Part{Scale: 1 + 1.0/(1<<10), F32: x, F64: y})
	if err := b.Sum(context.Background()); err != nil {
		t.Fatal(err)
	}
	s := 1 + 1.0/(1<<10)
	wantX, wantY := float32(float32(s)*x[0])-x[0], float64(s*y[0])-y[0]
	got, got64 := b.Total()
	for i := range got {
		if got[i] != wantX || got64[i] != wantY {
			t.Errorf("value %d: %g and %g, want %g and %g", i, got[i], got64[i], wantX, wantY)
		}
	}
}

// TestPutErrors: what is put wrongly is an error of the sum, and the bucket is of use again.
func TestPutErrors(t *testing.T) {
	one := parallel.Part{Scale: 1, F32: []float32{1}}
	all := func(b *parallel.Bucket) {
		for lane := range 4 {
			b.Put(lane, one)
		}
	}
	for want, put := range map[string]func(b *parallel.Bucket){
		"lane 4 is put by rank 0, which has lanes 0 to 3": func(b *parallel.Bucket) { all(b); b.Put(4, one) },
		"lane -1 is put":      func(b *parallel.Bucket) { b.Put(-1, one); all(b) },
		"lane 2 is put twice": func(b *parallel.Bucket) { all(b); b.Put(2, one) },
		"without lane 3":      func(b *parallel.Bucket) { b.Put(0, one); b.Put(1, one); b.Put(2, one) },
		"lane 0 puts 2 values of float32 and 0 of float64 into a bucket for 1 and 0": func(b *parallel.Bucket) { b.Put(0, one, one); all(b) },
	} {
		b := alone(t, 4).NewBucket(1, 0)
		put(b)
		if err := b.Sum(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		b.Put(1, one)
		b.Clear()
		all(b)
		if err := b.Sum(context.Background()); err != nil {
			t.Errorf("after %q: %v", want, err)
		}
		if x, _ := b.Total(); len(x) != 1 || x[0] != 4 {
			t.Errorf("after %q: %v", want, x)
		}
	}
}

// TestReduceScatterErrors: ranges that do not fit are errors, before anything is sent.
func TestReduceScatterErrors(t *testing.T) {
	r := func(from, to int) parallel.Range { return parallel.Range{F32: [2]int{from, to}} }
	for want, of := range map[string][]parallel.Range{
		"1 ranges for 2 ranks": {r(0, 1)},
		"overlap":              {r(0, 3), r(2, 4)},
		"the range of rank 1":  {r(0, 3), r(3, 6)},
		"the range of rank 0":  {r(3, 2), r(3, 4)},
		"without a sum":        {r(0, 3), r(3, 4)},
	} {
		errs := job(2, parallel.Config{}, func(r *parallel.Ranks) error {
			b := r.NewBucket(5, 0)
			if strings.HasPrefix(want, "without") {
				return b.AllGather(context.Background(), of)
			}
			return b.ReduceScatter(context.Background(), of)
		})
		for _, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	}
}

// TestMemory: if lanes come in order, a bucket keeps log2(own lanes) + 1 terms, and Memory says how
// many bytes they and the exchange take.
func TestMemory(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {1, 8}, {1, 7}, {1, 24}, {1, 1024}, {2, 8}, {4, 8}, {3, 24}, {8, 24}, {4, 28}} {
		ranks, lanes := c[0], c[1]
		must(t, job(ranks, parallel.Config{Lanes: lanes}, func(r *parallel.Ranks) error {
			b := r.NewBucket(30001, 500)
			from, to := r.Own()
			for lane := from; lane < to; lane++ {
				b.Put(lane, parallel.Part{Scale: 0.5, F32: []float32{1}})
			}
			if err := b.Sum(context.Background()); err != nil {
				return err
			}
			terms, bytes := b.Kept()
			if most := bits.Len(uint(to-from-1)) + 1; terms > most || bytes > b.Memory(1) {
				return fmt.Errorf("%v: %d terms, %d bytes: want at most %d and %d", c, terms, bytes, most, b.Memory(1))
			}
			if ranks < 3 && 2*bytes < b.Memory(1) {
				return fmt.Errorf("%v: %d bytes, where Memory says %d", c, bytes, b.Memory(1))
			}
			return nil
		}))
	}
}

// TestAllocations: a step allocates nothing once one has been made.
func TestAllocations(t *testing.T) {
	for _, c := range []struct{ ranks, lanes, n int }{{1, 8, 1000}, {1, 7, 1000}, {2, 8, 1000}, {4, 8, 100000}, {3, 24, 100000}, {8, 24, 100000}} {
		of := ranges(c.ranks, c.n, 5)
		const steps = 200
		var start, measured, end sync.WaitGroup
		start.Add(c.ranks)
		measured.Add(1)
		end.Add(c.ranks)
		go job(c.ranks, parallel.Config{Lanes: c.lanes}, func(r *parallel.Ranks) error {
			b, shard := r.NewBucket(c.n, 5), r.NewBucket(c.n, 5)
			x := []float32{1, 2, 3}
			step := func() error {
				from, to := r.Own()
				for lane := from; lane < to; lane++ {
					b.Put(lane, parallel.Part{Scale: 0.5, F32: x})
					shard.Put(lane, parallel.Part{Scale: 0.5, F32: x})
				}
				ctx := context.Background()
				if err := b.Sum(ctx); err != nil {
					return err
				}
				if err := shard.ReduceScatter(ctx, of); err != nil {
					return err
				}
				return shard.AllGather(ctx, of)
			}
			for range 3 {
				if err := step(); err != nil {
					t.Error(err)
				}
			}
			start.Done()
			measured.Wait()
			for range steps {
				if err := step(); err != nil {
					t.Error(err)
				}
			}
			end.Done()
			return nil
		})
		start.Wait()
		if n := testing.AllocsPerRun(1, func() {}); n > 0 {
			t.Fatal("something else allocates")
		}
		got := mallocs(func() {
			measured.Done()
			end.Wait()
		})
		// Goroutines that wait take a little of the runtime's memory at times.
		if got >= uint64(steps*c.ranks) {
			t.Errorf("%d ranks, %d lanes: %d allocations in %d steps of each rank", c.ranks, c.lanes, got, steps)
		}
	}
}
