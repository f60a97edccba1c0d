package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func TestFour(t *testing.T) {
	for _, level := range levels()[1:] {
		t.Run(level.String(), func(t *testing.T) {
			testFour[float32](t, level)
			testFour[float64](t, level)
		})
	}
}

// testFour compares all lengths of rows with the definitions, on values of which many are equal and
// some NaN.
func testFour[T float32 | float64](t *testing.T, level Level) {
	size := int(unsafe.Sizeof(T(0)))
	most, lay := FourOf(level, 8*size)
	r := rand.New(rand.NewPCG(5, 6))
	const rows, gap = 3, 2
	for cols := 1; cols <= 3*64/size+1; cols++ {
		n := rows * (cols + gap)
		var x, dst [4][]T
		for i := range x {
			x[i], dst[i] = make([]T, n), make([]T, n)
			for j := range n {
				x[i][j], dst[i][j] = T(r.IntN(4)-2), 77
				if r.IntN(9) == 0 {
					x[i][j] = T(math.NaN())
				}
			}
		}
		y, m := random[T](r, n), make([]T, n)
		p := func(s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
		s := (cols + gap) * size
		most(p(m), p(x[0]), p(x[1]), p(x[2]), p(x[3]), rows, cols, s, s, s, s, s)
		lay(p(dst[0]), p(dst[1]), p(dst[2]), p(dst[3]), p(x[0]), p(x[1]), p(x[2]), p(x[3]), p(y),
			rows, cols, s, s, s, s, s, s, s, s, s)
		for j := range n {
			if j%(cols+gap) >= cols {
				if m[j] != 0 || dst[0][j] != 77 || dst[3][j] != 77 {
					t.Fatalf("%d columns: wrote beyond", cols)
				}
				continue
			}
			want, chosen := max(x[0][j], x[1][j], x[2][j], x[3][j]), -1
			if m[j] != want && (m[j] == m[j] || want == want) {
				t.Fatalf("%d columns: the greatest is %v, want %v", cols, m[j], want)
			}
			for i := range x {
				v := T(0)
				if chosen < 0 && !(x[i][j] < want) {
					chosen, v = i, y[j]
				}
				if dst[i][j] != v {
					t.Fatalf("%d columns: window %v %v %v %v gives its element %d %v, want %v", cols,
						x[0][j], x[1][j], x[2][j], x[3][j], i, dst[i][j], v)
				}
			}
		}
	}
}

// TestTakeAtMax compares all lengths of rows with the definition, on values of which many are equal
// and some NaN.
func TestTakeAtMax(t *testing.T) {
	for _, level := range levels()[1:] {
		t.Run(level.String(), func(t *testing.T) {
			testTakeAtMax[float32](t, level)
			testTakeAtMax[float64](t, level)
		})
	}
}

func testTakeAtMax[T float32 | float64](t *testing.T, level Level) {
	size := int(unsafe.Sizeof(T(0)))
	take := TakeAtMaxOf(level, 8*size)
	r := rand.New(rand.NewPCG(7, 8))
	const rows, gap = 3, 2
	for cols := 1; cols <= 3*64/size+1; cols++ {
		n := rows * (cols + gap)
		dst, left := random[T](r, n), random[T](r, n)
		x, most := make([]T, n), make([]T, n)
		for j := range n {
			x[j], most[j] = T(r.IntN(4)), T(r.IntN(4))
			if r.IntN(9) == 0 {
				x[j] = T(math.NaN())
			}
			if r.IntN(9) == 0 {
				most[j] = T(math.NaN())
			}
		}
		wantDst, wantLeft := slices.Clone(dst), slices.Clone(left)
		for j := range n {
			if j%(cols+gap) < cols && !(x[j] < most[j]) {
				wantDst[j], wantLeft[j] = dst[j]+left[j], 0
			}
		}
		p := func(s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
		s := (cols + gap) * size
		take(p(dst), p(left), p(x), p(most), rows, cols, s, s, s, s)
		if !slices.Equal(dst, wantDst) || !slices.Equal(left, wantLeft) {
			t.Fatalf("%d columns: %v and %v are left, want %v and %v", cols, dst, left, wantDst, wantLeft)
		}
	}
}
