package simd

import (
	"math"
	"testing"
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/half"
	"golang.org/x/sys/unix"
)

// atPageEnd returns n bytes that end where a page begins that may be neither read nor written.
func atPageEnd(t *testing.T, n int) *byte {
	t.Helper()
	page := unix.Getpagesize()
	size := (n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, size+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	if err := unix.Mprotect(m[size:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return (*byte)(unsafe.Pointer(&m[size-n]))
}

// TestFourStaysInside: rows that end at the end of the memory.
func TestFourStaysInside(t *testing.T) {
	for _, level := range levels()[1:] {
		for _, bits := range []int{32, 64} {
			most, lay := FourOf(level, bits)
			for cols := 1; cols <= 20; cols++ {
				var p [9]*byte
				for i := range p {
					p[i] = atPageEnd(t, cols*bits/8)
				}
				most(p[0], p[1], p[2], p[3], p[4], 1, cols, 0, 0, 0, 0, 0)
				lay(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], 1, cols, 0, 0, 0, 0, 0, 0, 0, 0, 0)
			}
		}
	}
}

// TestBatchReduceStaysInside: operands that end at the end of the memory.
func TestBatchReduceStaysInside(t *testing.T) {
	const k, batch = 3, 2
	for _, level := range levels() {
		for _, bits := range []int{32, 64} {
			tile, size := BatchReduceOf(level, bits), bits/8
			for rows := 1; rows <= tile.Rows; rows++ {
				for cols := 1; cols <= tile.Cols; cols++ {
					a, b, c := atPageEnd(t, batch*rows*k*size), atPageEnd(t, batch*k*cols*size), atPageEnd(t, rows*cols*size)
					for _, accumulate := range []bool{false, true} {
						tile.Run(rows, cols, k, batch, a, k*size, size, rows*k*size, b, cols*size, k*cols*size,
							c, cols*size, accumulate)
					}
				}
			}
		}
	}
}

// TestTurnStaysInside: rows that end at the end of the memory.
func TestTurnStaysInside(t *testing.T) {
	for _, level := range levels() {
		for _, size := range []int{4, 8} {
			for cols := 1; cols <= TurnedRow; cols++ {
				for rows := 1; rows <= 40; rows += 3 {
					stride, bytes := TurnedSize(size, rows)
					turned, pad := atPageEnd(t, bytes), atPageEnd(t, TurnPad)
					Turn(level, size, turned, atPageEnd(t, rows*cols*size), pad, rows, cols, stride, cols*size)
					TurnBack(level, size, atPageEnd(t, rows*cols*size), turned, pad, rows, cols, stride)
					if Repeats(level, size, cols) {
						Repeat(level, size, atPageEnd(t, rows*cols*size), atPageEnd(t, rows*size), rows, cols)
					}
				}
			}
		}
	}
}

// TestBrainRows: every number of columns, at the end of what may be read and written.
func TestBrainRows(t *testing.T) {
	brainly(t)
	for cols := 1; cols <= 100; cols++ {
		const rows = 3
		wide := (cols + 1) / 2 * 2
		src := unsafe.Slice((*float32)(unsafe.Pointer(atPageEnd(t, 4*rows*cols))), rows*cols)
		dst := unsafe.Slice((*uint16)(unsafe.Pointer(atPageEnd(t, 2*rows*wide))), rows*wide)
		for i := range src {
			src[i] = float32(math.Sin(float64(i)))
		}
		for i := range dst {
			dst[i] = 77
		}
		BrainRows(active, pointer(dst), 2*wide, pointer(src), 4*cols, rows, cols)
		for i, v := range dst {
			want := uint16(0)
			if j := i % wide; j < cols {
				want = half.BrainBits(src[i/wide*cols+j])
			}
			if v != want {
				t.Fatalf("%d columns: element %d is %x, want %x", cols, i, v, want)
			}
		}
	}
}

// TestSmallProductsStayInside: operands that end at the end of the memory.
func TestSmallProductsStayInside(t *testing.T) {
	const m, batch = 2, 3
	for _, level := range levels() {
		for _, bits := range []int{32, 64} {
			for n := 1; n <= 8; n++ {
				for k := 1; k <= SmallTerms; k++ {
					s, size := SmallOf(level, bits, n), bits/8
					a, b, c := atPageEnd(t, batch*m*k*size), atPageEnd(t, batch*k*n*size), atPageEnd(t, batch*m*n*size)
					for j := 0; j < n; j += s.Cols {
						s.Run(batch, m, min(s.Cols, n-j), k, a, m*k*size, k*size, size, move(b, j*size), k*n*size, n*size, move(c, j*size), n*size)
					}
				}
			}
		}
	}
}
