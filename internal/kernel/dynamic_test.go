package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// cuts are random shapes of an array, the axis that is cut, how many elements are taken of it, and the
// places from which they are taken, some of which have not so many elements behind them.
func cuts(r *rand.Rand, f func(dims []int, axis, size int, places array)) {
	for range 60 {
		dims := make([]int, 1+r.IntN(4))
		for a := range dims {
			dims[a] = 1 + r.IntN(5)
		}
		axis := r.IntN(len(dims))
		if r.IntN(5) == 0 {
			dims[len(dims)-1] = 5000
		}
		size := 1 + r.IntN(dims[axis])
		dt := []DType{I32, I64}[r.IntN(2)]
		f(dims, axis, size, random(r, dt, func(r *rand.Rand) float64 { return float64(r.IntN(dims[axis]-size+3) - 1) }, dims[:r.IntN(axis+1)]...))
	}
}

func TestDynamicSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 6))
	cuts(r, func(dims []int, axis, size int, places array) {
		for _, e := range everyType {
			x := random(r, e.DType, e.value, dims...)
			part := slices.Clone(dims)
			part[axis] = size
			check(t, DynamicSlice{Axis: axis - len(dims)}, e.DType, part, []array{x, places}, 0, func(ix []int) float64 {
				i := int(places.get(ix[:places.Rank]...))
				if i < 0 || i > dims[axis]-size {
					if e.DType == F32 || e.DType == F64 {
						return math.NaN()
					}
					return 0
				}
				from := slices.Clone(ix)
				from[axis] += i
				return x.get(from...)
			})
		}
	})
}

func TestDynamicUpdate(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 6))
	cuts(r, func(dims []int, axis, size int, places array) {
		for _, e := range everyType {
			x := styled(r, styleDense, e.DType, e.value, dims...)
			shape := slices.Clone(dims)
			shape[axis] = size
			part := random(r, e.DType, e.value, shape...)
			check(t, DynamicUpdate{Axis: axis - len(dims)}, e.DType, dims, []array{x, places, part}, 0, func(ix []int) float64 {
				i := int(places.get(ix[:places.Rank]...))
				from := slices.Clone(ix)
				if from[axis] -= i; i < 0 || i > dims[axis]-size || from[axis] < 0 || from[axis] >= size {
					return x.get(ix...)
				}
				return part.get(from...)
			})
		}
	})
}
