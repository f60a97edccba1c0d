package simd

import (
	"slices"
	"testing"
)

// TestEnter: a loop that is entered gives what it gives when it is called, in as many rows and
// columns, and every loop of a level with assembly that takes two operands and no stack has an entry
// of its own.
func TestEnter(t *testing.T) {
	seen := map[Entry]bool{0: true}
	for _, f := range entered {
		if e := EntryOf(f); seen[e] {
			t.Errorf("entry %#x is none, or that of two loops", e)
		} else {
			seen[e] = true
		}
	}
	eachLevel(t, func(t *testing.T, level Level) {
		for _, op := range []Operation{Add, Sub, Mul, Div, Max, Min} {
			z := ZipOf[float64](level, op)
			for i, f := range []Zip{z.Rows, z.OneY, z.OneX} {
				if f == nil {
					continue
				}
				entry := EntryOf(f)
				if level == Portable {
					if entry != 0 {
						t.Errorf("operation %d has an entry in plain Go", op)
					}
					continue
				}
				if entry == 0 {
					t.Errorf("operation %d, loop %d has no entry", op, i)
					continue
				}
				const rows, cols = 3, 21
				x, y := make([]float64, rows*cols), make([]float64, rows*cols)
				for k := range x {
					x[k], y[k] = float64(k*k%17)-8.5, float64(k%5)-1.75
				}
				got, want := make([]float64, rows*cols), make([]float64, rows*cols)
				const stride = cols * 8
				f(pointer(want), pointer(x), pointer(y), rows, cols, stride, stride, stride)
				Enter(pointer(got), pointer(x), pointer(y), rows, cols, stride, stride, stride, entry)
				if !slices.Equal(got, want) {
					t.Errorf("operation %d, loop %d: entered it gives %v, called %v", op, i, got, want)
				}
			}
		}
	})
}
