package simd

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// Columns that lie anywhere become rows, and nothing around the rows is written.
func TestCollect(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testCollect[uint32](t, level)
		testCollect[uint64](t, level)
	})
}

func testCollect[T word](t *testing.T, level Level) {
	const guard = 16
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(1, 2))
	for cols := 1; cols <= 34; cols++ {
		for _, rows := range []int{1, 3, 4, 5, 7, 8, 9, 17, 63, 64, 65, 131} {
			apart := cols + r.IntN(2)*r.IntN(5)
			columns, from := make([]*byte, cols), make([][]T, cols)
			for i := range columns {
				from[i] = make([]T, rows) // with nothing to read after it
				for j := range from[i] {
					from[i][j] = T(1 + i*1000 + j)
				}
				columns[i] = pointer(from[i])
			}
			got := make([]T, guard+rows*apart+guard)
			Collect(level, size, pointer(got[guard:]), columns, rows, apart*size)
			for k, v := range got {
				want := T(0)
				if at := k - guard; at >= 0 && at < rows*apart && at%apart < cols {
					want = from[at%apart][at/apart]
				}
				if v != want {
					t.Fatalf("%d rows of %d, %d apart: element %d is %d, want %d", rows, cols, apart, k-guard, v, want)
				}
			}
		}
	}
}
