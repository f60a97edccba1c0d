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
