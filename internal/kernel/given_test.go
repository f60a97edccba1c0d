package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestGivenFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	less := Zip{Of: math.Atan2, Whole: func(x, y int64) int64 { return x - 3*y }}
	for _, dims := range shapes(r) {
		for _, dt := range []DType{F32, F64} {
			x, y := random(r, dt, special, dims...), random(r, dt, special, narrowed(r, dims)...)
			check(t, Map{Of: math.Atan}, dt, dims, []array{x}, 0, func(ix []int) float64 { return rounded(dt, math.Atan(x.get(ix...))) })
			check(t, less, dt, dims, []array{x, y}, 0, func(ix []int) float64 { return rounded(dt, math.Atan2(x.get(ix...), y.get(ix...))) })
		}
		for _, dt := range []DType{I32, I64} {
			x, y := random(r, dt, plain, dims...), random(r, dt, plain, narrowed(r, dims)...)
			check(t, less, dt, dims, []array{x, y}, 0, func(ix []int) float64 { return x.get(ix...) - 3*y.get(ix...) })
		}
	}
}
