package kernel

import (
	"math/rand/v2"
	"testing"
)

func TestPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range shapes(r) {
		for _, e := range everyType {
			k, out := Place{}, make([]int, len(dims))
			for a, d := range dims {
				step := 1 + r.IntN(3)
				first := r.IntN(3)
				span := max(d-1, 0) * step
				out[a] = first + span + 1 + r.IntN(3)
				k.Start[a], k.Step[a] = first, step
				if r.IntN(2) == 0 {
					k.Start[a], k.Step[a] = first+span, -step
				}
			}
			x := random(r, e.DType, e.value, dims...)
			check(t, k, e.DType, out, []array{x}, 0, func(ix []int) float64 {
				from := make([]int, len(ix))
				for a, i := range ix {
					i -= k.Start[a]
					if i%k.Step[a] != 0 || i/k.Step[a] < 0 || i/k.Step[a] >= dims[a] {
						return 0
					}
					from[a] = i / k.Step[a]
				}
				return x.get(from...)
			})
		}
	}
}

// Rows of one element each that lie beside each other, laid into rows that are longer.
func TestPlaceRepeated(t *testing.T) { atLevels(t, testPlaceRepeated) }

func testPlaceRepeated(t *testing.T) {
	for _, dt := range []DType{F32, F64, I32} {
		for n := 1; n <= 5; n++ {
			x := array{Dense(dt, 100, n), Alloc(100 * dt.Size())}
			x.Strides[0], x.Strides[1] = 1, 0
			for i := range 100 {
				set(dt, x.mem, i, float64(i+1))
			}
			for _, wide := range []int{n, n + 2} {
				k := Place{Step: [MaxRank]int{1, 1}}
				check(t, k, dt, []int{100, wide}, []array{x}, 0, func(ix []int) float64 {
					if ix[1] >= n {
						return 0
					}
					return float64(ix[0] + 1)
				})
			}
		}
	}
}
