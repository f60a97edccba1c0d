package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// Rows of every length, any distance apart, become columns and rows again, and nothing around them
// is read or written.
func TestTurn(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testTurn[uint32](t, level)
		testTurn[uint64](t, level)
	})
}

func testTurn[T word](t *testing.T, level Level) {
	const guard = 40
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(1, 2))
	pad := make([]T, TurnPad/size)
	for cols := 1; cols <= TurnedRow; cols++ {
		for _, rows := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 1024 / cols} {
			apart := cols + r.IntN(2)*r.IntN(30)
			src := make([]T, guard+rows*apart+guard)
			for i := range src {
				src[i] = T(i + 1)
			}
			stride, bytes := TurnedSize(size, rows)
			turned := make([]T, bytes/size+guard)
			for i := bytes / size; i < len(turned); i++ {
				turned[i] = 7
			}
			Turn(level, size, pointer(turned), pointer(src[guard:]), pointer(pad), rows, cols, stride, apart*size)
			for i := range rows {
				for j := range cols {
					if got, want := turned[j*stride/size+i], src[guard+i*apart+j]; got != want {
						t.Fatalf("%d rows of %d: element %d,%d is %v, want %v", rows, cols, i, j, got, want)
					}
				}
			}
			if slices.ContainsFunc(turned[bytes/size:], func(v T) bool { return v != 7 }) {
				t.Fatalf("%d rows of %d: Turn writes beyond %d bytes", rows, cols, bytes)
			}
			back := make([]T, guard+rows*cols+guard)
			TurnBack(level, size, pointer(back[guard:]), pointer(turned), pointer(pad), rows, cols, stride)
			for i, v := range back {
				want := T(0)
				if at := i - guard; at >= 0 && at < rows*cols {
					want = src[guard+at/cols*apart+at%cols]
				}
				if v != want {
					t.Fatalf("%d rows of %d: turned back, element %d is %v, want %v", rows, cols, i-guard, v, want)
				}
			}
		}
	}
}

// Rows of one element each, and nothing around them.
func TestRepeat(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testRepeat[uint32](t, level)
		testRepeat[uint64](t, level)
	})
}

func testRepeat[T word](t *testing.T, level Level) {
	const guard = 40
	size := int(unsafe.Sizeof(T(0)))
	for cols := 1; cols <= TurnedRow; cols++ {
		if !Repeats(level, size, cols) {
			if level > Portable && cols >= 2 && cols <= 4 {
				t.Errorf("no way to repeat %d elements", cols)
			}
			continue
		}
		for rows := range 70 {
			src, dst := make([]T, rows), make([]T, guard+rows*cols+guard)
			for i := range src {
				src[i] = T(i + 1)
			}
			Repeat(level, size, pointer(dst[guard:]), pointer(append(src, 0)), rows, cols)
			for i, v := range dst {
				want := T(0)
				if at := i - guard; at >= 0 && at < rows*cols {
					want = src[at/cols]
				}
				if v != want {
					t.Fatalf("%d rows of %d: element %d is %v, want %v", rows, cols, i-guard, v, want)
				}
			}
		}
	}
}
