package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func pointer[T any](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }

func TestTranspose(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.String(), func(t *testing.T) {
			testTranspose[uint32](t, level)
			testTranspose[uint64](t, level)
		})
	}
}

func testTranspose[T word](t *testing.T, level Level) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows, cols := r.IntN(40), r.IntN(40)
		switch r.IntN(10) {
		case 0:
			cols = 200 + r.IntN(400)
		case 1: // as many rows as shuffles take, and as many columns
			rows, cols = 1+r.IntN(4), 10+r.IntN(60)
		case 2:
			rows, cols = 10+r.IntN(60), 1+r.IntN(4)
		}
		from, to := cols+r.IntN(5), rows+r.IntN(5)
		src, dst := make([]T, rows*from+1), make([]T, cols*to+1)
		for i := range src {
			src[i] = T(i + 1)
		}
		Transpose(level, size, pointer(dst), pointer(src), rows, cols, to*size, from*size)
		for i, v := range dst {
			row, col := i/max(to, 1), i%max(to, 1)
			want := T(0)
			if row < cols && col < rows {
				want = src[col*from+row]
			}
			if v != want {
				t.Fatalf("%d×%d: element %d,%d is %v, want %v", rows, cols, row, col, v, want)
			}
		}
	}
}

func TestPanel(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.String(), func(t *testing.T) {
			testPanel[uint32](t, level)
			testPanel[uint64](t, level)
		})
	}
}

func testPanel[T word](t *testing.T, level Level) {
	size := int(unsafe.Sizeof(T(0)))
	width := TileOf(level, Dot, 8*size).Cols
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 300 {
		k, cols := r.IntN(40), 1+r.IntN(width)
		if trial%3 == 0 {
			cols = width
		}
		row, col := cols+r.IntN(3), 1
		switch trial % 4 {
		case 1:
			row, col = 1, k+r.IntN(3)
		case 2:
			col = 2
			row *= 2
		}
		src, dst := make([]T, k*row+cols*col+1), make([]T, k*width+1)
		for i := range src {
			src[i] = T(i + 1)
		}
		Panel(level, size, pointer(dst), width, pointer(src), k, cols, row*size, col*size)
		for i, v := range dst {
			want := T(0)
			if p, j := i/width, i%width; p < k && j < cols {
				want = src[p*row+j*col]
			}
			if v != want {
				t.Fatalf("%d rows of %d, strides %d and %d: element %d is %v, want %v", k, cols, row, col, i, v, want)
			}
		}
	}
}

func BenchmarkTranspose(b *testing.B) {
	for _, s := range [][4]int{{32, 64, 32, 64}, {32, 256, 32, 1024}, {512, 512, 512, 512}, {1000, 1000, 1000, 1000}, {4096, 64, 4096, 64}} {
		for _, level := range levels() {
			b.Run(fmt.Sprint(s, level), func(b *testing.B) {
				src, dst := make([]float32, s[0]*s[3]), make([]float32, s[1]*s[2])
				for b.Loop() {
					Transpose(level, 4, pointer(dst), pointer(src), s[0], s[1], s[2]*4, s[3]*4)
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*s[0]*s[1]), "ns/element")
			})
		}
	}
}
