package simd

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestBatchReduce(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.String(), func(t *testing.T) {
			testBatchReduce[float32](t, BatchReduceOf(level, 32), 0x1p-23)
			testBatchReduce[float64](t, BatchReduceOf(level, 64), 0x1p-52)
		})
	}
}

// testBatchReduce compares every size of tile with sums in float64, between guards.
func testBatchReduce[T float32 | float64](t *testing.T, tile BatchReduce, eps float64) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(3, 4))
	const pad = 3
	for rows := 1; rows <= tile.Rows; rows++ {
		for cols := 1; cols <= tile.Cols; cols++ {
			for _, n := range [][2]int{{0, 2}, {3, 0}, {1, 1}, {5, 1}, {2, 3}, {4, 2}} {
				k, batch := n[0], n[1]
				rowA, colA := k+1, 1 // overlapping windows, or a transposed operand
				if cols%2 == 0 {
					rowA, colA = 1, rows
				}
				nextA, rowB := 2, cols+1
				nextB := k*rowB + pad
				a, b := random[T](r, rows*rowA+k*colA+batch*nextA+1), random[T](r, (batch+1)*nextB)
				rowC := cols + pad
				c := random[T](r, rows*rowC+pad)
				p := func(s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
				for _, accumulate := range []bool{false, true} {
					got := append([]T(nil), c...)
					tile.Run(rows, cols, k, batch, p(a), rowA*size, colA*size, nextA*size, p(b), rowB*size, nextB*size,
						p(got[pad:]), rowC*size, accumulate)
					for at := range got {
						i, j := (at-pad)/rowC, (at-pad)%rowC
						if at < pad || i >= rows || j >= cols {
							if got[at] != c[at] {
								t.Fatalf("%dx%d k=%d of %d: wrote element %d", rows, cols, k, batch, at-pad)
							}
							continue
						}
						want, bound := 0.0, 0.0
						if accumulate {
							want, bound = float64(c[at]), math.Abs(float64(c[at]))
						}
						for q := range batch {
							for p := range k {
								f := float64(a[q*nextA+i*rowA+p*colA]) * float64(b[q*nextB+p*rowB+j])
								want, bound = want+f, bound+math.Abs(f)
							}
						}
						if d := math.Abs(float64(got[at]) - want); !(d <= float64(k*batch+3)*eps*bound) {
							t.Fatalf("%dx%d k=%d of %d accumulate=%v: element %d,%d is %v, want %v",
								rows, cols, k, batch, accumulate, i, j, got[at], want)
						}
					}
				}
			}
		}
	}
}

func TestWindowReduce(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.String(), func(t *testing.T) {
			testWindowReduce[float32](t, WindowReduceOf(level, 32), 0x1p-23)
			testWindowReduce[float64](t, WindowReduceOf(level, 64), 0x1p-52)
		})
	}
}

// testWindowReduce compares every size of tile with sums in float64, between guards.
func testWindowReduce[T float32 | float64](t *testing.T, tile BatchReduce, eps float64) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(3, 5))
	const pad = 3
	p := func(s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
	for rows := 1; rows <= tile.Rows; rows++ {
		for cols := 1; cols <= tile.Cols; cols++ {
			for _, n := range [][2]int{{0, 2}, {3, 0}, {1, 1}, {5, 1}, {3, 3}} {
				k, batch := n[0], n[1]
				rowA, colA := cols+pad, cols+pad // windows that overlap
				nextA, rowB := (rows+k)*colA, cols+1
				nextB, rowC := k*rowB+pad, cols+pad
				a, b := random[T](r, (batch+1)*nextA+cols), random[T](r, (batch+1)*nextB)
				c := random[T](r, rows*rowC+pad)
				for _, accumulate := range []bool{false, true} {
					got := append([]T(nil), c...)
					tile.Run(rows, cols, k, batch, p(a), rowA*size, colA*size, nextA*size, p(b), rowB*size, nextB*size,
						p(got[pad:]), rowC*size, accumulate)
					for at := range got {
						i, j := (at-pad)/rowC, (at-pad)%rowC
						if at < pad || i >= rows || j >= cols {
							if got[at] != c[at] {
								t.Fatalf("%dx%d k=%d of %d: wrote element %d", rows, cols, k, batch, at-pad)
							}
							continue
						}
						want, bound := 0.0, 0.0
						if accumulate {
							want, bound = float64(c[at]), math.Abs(float64(c[at]))
						}
						for q := range batch {
							for p := range k {
								f := float64(a[q*nextA+i*rowA+p*colA+j]) * float64(b[q*nextB+p*rowB+j])
								want, bound = want+f, bound+math.Abs(f)
							}
						}
						if d := math.Abs(float64(got[at]) - want); !(d <= float64(k*batch+3)*eps*bound) {
							t.Fatalf("%dx%d k=%d of %d accumulate=%v: element %d,%d is %v, want %v",
								rows, cols, k, batch, accumulate, i, j, got[at], want)
						}
					}
				}
			}
		}
	}
}
