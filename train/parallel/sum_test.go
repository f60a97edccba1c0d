package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// term is what a lane computes: parts as they are put.
type term struct {
	scale float64
	f32   []float32
	f64   []float64
}

// terms returns values of all magnitudes, some of them special, by lane.
func terms(lanes, n32, n64 int) []term {
	rng := rand.New(rand.NewPCG(uint64(lanes), uint64(n32)<<32|uint64(n64)))
	draw := func() float64 {
		switch rng.IntN(40) {
		case 0:
			return math.Copysign(0, float64(rng.IntN(2))-0.5)
		case 1:
			return math.SmallestNonzeroFloat32
		case 2:
			return math.MaxFloat32
		}
		return math.Ldexp(rng.Float64()-0.5, rng.IntN(40)-20)
	}
	list := make([]term, lanes)
	for i := range list {
		t := term{scale: 1}
		if i%3 > 0 {
			t.scale = draw()
		}
		for k := range n32 {
			x := float32(draw())
			if k == 3 && i%4 == 1 {
				x = float32(math.Inf(i%8 - 2)) // of both signs: NaN
			}
			if k == 5 {
				x = float32(math.Copysign(0, -1))
			}
			t.f32 = append(t.f32, x)
		}
		for k := range n64 {
			x := draw()
			if k == 2 {
				x = math.NaN()
			}
			t.f64 = append(t.f64, x)
		}
		list[i] = t
	}
	return list
}

// reference adds up terms as package parallel says: in pairs, the largest power of two on the left.
func reference(list []term) ([]float32, []float64) {
	if len(list) == 1 {
		t := list[0]
		x, y := slices.Clone(t.f32), slices.Clone(t.f64)
		for i := range x {
			x[i] = float32(t.scale) * x[i]
		}
		for i := range y {
			y[i] = t.scale * y[i]
		}
		return x, y
	}
	left := 1
	for 2*left < len(list) {
		left *= 2
	}
	x, y := reference(list[:left])
	x2, y2 := reference(list[left:])
	for i := range x {
		x[i] = x[i] + x2[i]
	}
	for i := range y {
		y[i] = y[i] + y2[i]
	}
	return x, y
}

// same reports whether numbers have the same bits, or are both NaN.
func same[T float32 | float64](a, b []T) bool {
	return slices.EqualFunc(a, b, func(x, y T) bool {
		return x == y && math.Signbit(float64(x)) == math.Signbit(float64(y)) || x != x && y != y
	})
}

// job runs a function for each of so many ranks at once, and returns the errors by rank.
func job(ranks int, c parallel.Config, run func(r *parallel.Ranks) error) []error {
	return over(parallel.Local(ranks), c, run)
}

// over is job over transports.
func over(all []parallel.Transport, c parallel.Config, run func(r *parallel.Ranks) error) []error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for rank, transport := range all {
		wait.Go(func() {
			r, err := parallel.Join(context.Background(), transport, c)
			if err == nil {
				err = errors.Join(run(r), r.Close())
			}
			errs[rank] = err
		})
	}
	wait.Wait()
	return errs
}

func must(t testing.TB, errs []error) {
	t.Helper()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d of %d: %v", rank, len(errs), err)
		}
	}
}

// put puts a rank's own lanes, from several goroutines, each term in two parts.
func put(b *parallel.Bucket, r *parallel.Ranks, list []term) {
	from, to := r.Own()
	var wait sync.WaitGroup
	for lane := from; lane < to; lane++ {
		t := list[lane]
		wait.Go(func() {
			mid, mid64 := len(t.f32)/3, len(t.f64)/2
			b.Put(lane,
				parallel.Part{Scale: t.scale, F32: t.f32[:mid]},
				parallel.Part{Scale: t.scale, F64: t.f64[:mid64]},
				parallel.Part{Scale: t.scale, F32: t.f32[mid:]},
				parallel.Part{Scale: t.scale, F64: t.f64[mid64:]})
		})
	}
	wait.Wait()
}

var rankCounts = []int{1, 2, 3, 4, 6, 7, 8, 12, 24}

// TestSum: a sum has the bits of its definition for any number of ranks, at every step.
func TestSum(t *testing.T) {
	sizes := [][2]int{{0, 0}, {1, 0}, {0, 1}, {2, 0}, {7, 0}, {7, 3}, {1000, 0}, {0, 1000}, {1000, 11}, {40001, 0}, {17001, 9001}}
	for _, lanes := range []int{1, 5, 6, 7, 8, 12, 24, 56, 1024} {
		for _, n := range sizes {
			if lanes > 100 && n[0]+n[1] > 1000 {
				continue
			}
			list := terms(lanes, n[0], n[1])
			x, y := reference(list)
			for _, ranks := range append(rankCounts, 5, 16) {
				if lanes%ranks != 0 {
					continue
				}
				must(t, job(ranks, parallel.Config{Lanes: lanes}, func(r *parallel.Ranks) error {
					b := r.NewBucket(n[0], n[1])
					for range 2 {
						put(b, r, list)
						if err := b.Sum(context.Background()); err != nil {
							return err
						}
						if x2, y2 := b.Total(); !same(x, x2) || !same(y, y2) {
							return fmt.Errorf("%d lanes, %v values: other bits", lanes, n)
						}
					}
					return nil
				}))
			}
		}
	}
}

// ranges cuts values into ranges by rank, some of them empty, with values before and after that are
// in none.
func ranges(ranks, n32, n64 int) []parallel.Range {
	list := make([]parallel.Range, ranks)
	for q := range list {
		cut := func(n int) [2]int {
			n -= min(n, 3) // the last are for all
			return [2]int{min(n, 1+q*n/ranks), min(n, 1+(q+1)*n/ranks)}
		}
		list[q] = parallel.Range{F32: cut(n32), F64: cut(n64)}
	}
	slices.Reverse(list) // ranges need not follow the ranks
	return list
}

// TestReduceScatter: each rank gets the sums of its own range and of what is in none, in the same
// bits, and can give its range to all.
func TestReduceScatter(t *testing.T) {
	for _, lanes := range []int{6, 8, 24} {
		for _, ranks := range rankCounts {
			if lanes%ranks != 0 {
				continue
			}
			for _, n := range [][2]int{{0, 0}, {1, 0}, {9, 5}, {1000, 0}, {30001, 4001}} {
				list := terms(lanes, n[0], n[1])
				x, y := reference(list)
				of := ranges(ranks, n[0], n[1])
				mine := func(q, i int, run func(parallel.Range) [2]int) bool {
					for p := range of {
						if c := run(of[p]); c[0] <= i && i < c[1] {
							return p == q
						}
					}
					return true
				}
				must(t, job(ranks, parallel.Config{Lanes: lanes, Shard: true}, func(r *parallel.Ranks) error {
					b := r.NewBucket(n[0], n[1])
					for range 2 {
						put(b, r, list)
						if err := b.ReduceScatter(context.Background(), of); err != nil {
							return err
						}
						x2, y2 := b.Total()
						for i := range x2 {
							if mine(r.Rank(), i, func(c parallel.Range) [2]int { return c.F32 }) {
								if !same(x[i:i+1], x2[i:i+1]) {
									return fmt.Errorf("value %d is %g, want %g", i, x2[i], x[i])
								}
							} else {
								x2[i] = 99 // nobody reads it
							}
						}
						for i := range y2 {
							if mine(r.Rank(), i, func(c parallel.Range) [2]int { return c.F64 }) {
								if !same(y[i:i+1], y2[i:i+1]) {
									return fmt.Errorf("value %d is %g, want %g", i, y2[i], y[i])
								}
							} else {
								y2[i] = 99
							}
						}
						if err := b.AllGather(context.Background(), of); err != nil {
							return err
						}
						if x2, y2 := b.Total(); !same(x, x2) || !same(y, y2) {
							return fmt.Errorf("%d lanes, %v values: other bits after AllGather", lanes, n)
						}
					}
					return nil
				}))
			}
		}
	}
}
