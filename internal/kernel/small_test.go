package kernel

import (
	"math/rand/v2"
	"testing"
)

func TestSmallProducts(t *testing.T) { atLevels(t, testSmallProducts) }

// testSmallProducts multiplies matrices of all small sizes, in batches of two axes along which either
// operand may repeat, in every style of layout.
func testSmallProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	sizes := []int{1, 2, 3, 4, 5, 8, 9}
	for _, m := range sizes {
		for _, n := range sizes {
			for _, k := range []int{0, 1, 3, 4, 7, 8} {
				for _, dt := range []DType{F32, F64} {
					batch := [][]int{{5, 3}, {2, 1}, {40}, {}, {0, 2}, {1, 70}}[r.IntN(6)]
					x := random(r, dt, plain, append(narrowed(r, batch), m, k)...)
					y := random(r, dt, plain, append(narrowed(r, batch), k, n)...)
					tol := map[DType]float64{F32: 1e-4, F64: 1e-12}[dt]
					check(t, MatMul{}, dt, append(append([]int{}, batch...), m, n), []array{x, y}, tol, func(ix []int) (sum float64) {
						last := len(ix) - 1
						left, right := append(append([]int{}, ix[:last]...), 0), append([]int{}, ix...)
						for p := range k {
							left[last], right[last-1] = p, p
							sum += x.get(left...) * y.get(right...)
						}
						return sum
					})
				}
			}
		}
	}
}
