package simd

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestMatVec(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.String(), func(t *testing.T) {
			testMatVec[float32](t, MatVecOf(level, 32), 0x1p-23)
			testMatVec[float64](t, MatVecOf(level, 64), 0x1p-52)
		})
	}
}

func testMatVec[T float32 | float64](t *testing.T, f MatVec, eps float64) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(5, 6))
	for rows := range 10 {
		for k := range 70 {
			rowA, stepC := k+r.IntN(3), 1+r.IntN(3)
			a, x, c := random[T](r, rows*rowA+1), random[T](r, k+1), random[T](r, rows*stepC+1)
			for _, accumulate := range []bool{false, true} {
				got := append([]T(nil), c...)
				f(rows, k, pointer(a), rowA*size, pointer(x), pointer(got), stepC*size, accumulate)
				for q := range got {
					want, bound := float64(c[q]), 0.0
					if i := q / stepC; i < rows && q%stepC == 0 {
						if !accumulate {
							want = 0
						}
						bound = math.Abs(want)
						for p := range k {
							f := float64(a[i*rowA+p]) * float64(x[p])
							want += f
							bound += math.Abs(f)
						}
					}
					if d := math.Abs(float64(got[q]) - want); !(d <= float64(k+1)*eps*bound) {
						t.Fatalf("%d rows, k=%d, accumulate=%v: element %d is %v, want %v", rows, k, accumulate, q, got[q], want)
					}
				}
			}
		}
	}
}
