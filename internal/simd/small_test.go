package simd

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestSmallProducts(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.String(), func(t *testing.T) {
			testSmallProducts[float32](t, level)
			testSmallProducts[float64](t, level)
		})
	}
}

// testSmallProducts compares every size with what the tiles give, bit by bit, between guards.
func testSmallProducts[T float32 | float64](t *testing.T, level Level) {
	size := int(unsafe.Sizeof(T(0)))
	p := func(s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
	r := rand.New(rand.NewPCG(5, 6))
	tile := TileOf(level, Dot, 8*size)
	const batch, pad = 3, 3
	for n := 1; n <= 8; n++ {
		s := SmallOf(level, 8*size, n)
		for k := 1; k <= SmallTerms; k++ {
			for m := 1; m <= 9; m++ {
				rowA, colA := k+1, 1
				if m%2 == 0 {
					rowA, colA = 1, m+2
				}
				nextA, rowB, rowC := m*k*2+1, n+1, n+pad
				nextB := k * rowB * (m % 2) // one for all batches, or each its own
				a, b := random[T](r, (batch+1)*nextA+(m+3)*(k+1)), random[T](r, (batch+1)*k*rowB)
				got := random[T](r, pad+batch*m*rowC)
				want := append([]T(nil), got...)
				for j := 0; j < n; j += s.Cols {
					s.Run(batch, m, min(s.Cols, n-j), k, p(a), nextA*size, rowA*size, colA*size, p(b[j:]), nextB*size, rowB*size, p(got[pad+j:]), rowC*size)
				}
				for q := range batch {
					for i := range m {
						for j := 0; j < n; j += tile.Cols {
							tile.Run(1, 1, min(tile.Cols, n-j), k, p(a[q*nextA+i*rowA:]), rowA*size, colA*size, p(b[q*nextB+j:]), rowB*size, nil, 0, 0,
								p(want[pad+(q*m+i)*rowC+j:]), rowC*size, false, 0, 0)
						}
					}
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%T %dx%dx%d: element %d is %v, want %v", got[i], m, k, n, i-pad, got[i], want[i])
					}
				}
			}
		}
	}
}
