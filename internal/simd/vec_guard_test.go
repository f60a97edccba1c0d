//go:build linux

package simd

import (
	"math/rand/v2"
	"syscall"
	"testing"
)

// guarded returns n bytes between two pages that may not be touched, at the end of their page or at
// its start.
func guarded(t *testing.T, n int, atEnd bool) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	size := (n + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	for _, p := range [][]byte{m[:page], m[page+size:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if atEnd {
		return m[page+size-n : page+size : page+size]
	}
	return m[page : page+n : page+n]
}

// No loop touches memory beyond its operands: it would end the program.
func TestLoopsStayInside(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, most = 2, 3*16 + 1
	for _, atEnd := range []bool{false, true} {
		const last = 6 // for the result; before it are operands, six at most
		arrays := make([][]byte, last+1)
		for i := range arrays {
			arrays[i] = guarded(t, 8*rows*most, atEnd)
		}
		part := func(i, n int) []byte {
			if atEnd {
				return arrays[i][len(arrays[i])-n:]
			}
			return arrays[i][:n]
		}
		for _, level := range levels() {
			for _, c := range loopCases(level) {
				for cols := 1; cols <= most; cols++ {
					places, strides := make([]*byte, len(c.in)), make([]int, len(c.in))
					for i, p := range c.in {
						strides[i] = p.cols(cols) * p.size
						b := part(i, rows*strides[i])
						values(r, p, b)
						places[i] = &b[0]
					}
					stride := c.dst.cols(cols) * c.dst.size
					c.call(&part(last, rows*stride)[0], places, rows, cols, stride, strides)
				}
			}
			testFoldsInside[float32](level, r, part)
			testFoldsInside[float64](level, r, part)
		}
	}
}

func testFoldsInside[T Float](level Level, r *rand.Rand, part func(i, n int) []byte) {
	size := int(sizeOf[T]())
	for rows := 1; rows <= 2; rows++ {
		for cols := 1; cols <= 49; cols++ {
			x := part(0, rows*cols*size)
			values(r, place{size: size}, x)
			acc, best := part(1, 8*cols), part(2, size*cols)
			values(r, place{size: 8}, acc)
			values(r, place{size: size}, best)
			ColumnSumOf[T](level)(&acc[0], &x[0], rows, cols, cols*size)
			if deviation := ColumnDeviationOf[T](level); deviation != nil {
				deviation(&acc[0], &x[0], &best[0], rows, cols, cols*size)
			}
			ColumnExtremeOf[T](level, true)(&best[0], &x[0], rows, cols, cols*size)
			ColumnExtremeOf[T](level, false)(&best[0], &x[0], rows, cols, cols*size)
		}
	}
	for cols := 1; cols <= 49; cols++ {
		x, value, at := part(0, 2*cols*size), part(1, 2*size), part(2, 2*8)
		values(r, place{size: size}, x)
		FoldOf[T](level, MaxOf)(&value[0], &x[0], 2, cols, cols*size)
		RowIndexOf[T](level)(&at[0], &x[0], &value[0], 2, cols, cols*size, size)
	}
	for rows := 8; rows <= 10; rows++ { // whole passes of eight rows
		for cols := 1; cols <= 9; cols++ {
			x, acc, mean := part(0, rows*cols*size), part(1, 8*cols), part(2, size*cols)
			values(r, place{size: size}, x)
			values(r, place{size: size}, mean)
			ColumnSumOf[T](level)(&acc[0], &x[0], rows, cols, cols*size)
			if deviation := ColumnDeviationOf[T](level); deviation != nil {
				deviation(&acc[0], &x[0], &mean[0], rows, cols, cols*size)
			}
		}
	}
}
