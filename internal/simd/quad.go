package simd

import "unsafe"

// QuadReduceOf returns the micro-kernel of a level, which the machine must have, for integers of a
// byte: a [BatchReduce] whose elements of a and b are four bytes, of a without a sign and of b with
// one. The four products of neighbours are added; c is int32, and wraps around. As integers are
// exact, every level gives the same results.
func QuadReduceOf(level Level) BatchReduce { return quadReduceOf(level) }

// QuadPanel lays k rows of cols bytes out as quads, of which an element is what four rows, 4q to
// 4q+3, have in a column; rows beyond the last are 0. Rows of dst are width elements apart, those of
// src rowSrc bytes, and their columns lie side by side.
func QuadPanel(level Level, dst *byte, width int, src *byte, rowSrc, k, cols int) {
	done := 0 // columns, of whole quads
	if strip := quadStrip(level); strip != nil && k >= 4 {
		for ; done+16 <= cols; done += 16 {
			strip(move(dst, 4*done), 4*width, move(src, done), rowSrc, k/4)
		}
	}
	for p := 0; p < k; p += 4 {
		from := done
		if p+4 > k {
			from = 0
		}
		out := unsafe.Slice((*[4]byte)(unsafe.Pointer(move(dst, p*width))), cols)
		clear(out[from:])
		for i := range min(4, k-p) {
			for j, v := range unsafe.Slice(move(src, (p+i)*rowSrc), cols)[from:] {
				out[from+j][i] = v
			}
		}
	}
}

// portableQuadReduce is the micro-kernel in plain Go. It reads bytes one by one, so that their order
// in memory does not depend on the machine.
var portableQuadReduce = BatchReduce{6, 16, func(rows, cols, k, batch int, a *byte, rowA, colA, nextA int, b *byte, rowB, nextB int,
	c *byte, rowC int, accumulate bool) {
	for i := range rows {
		out := unsafe.Slice((*int32)(unsafe.Pointer(move(c, i*rowC))), cols)
		if !accumulate {
			clear(out)
		}
		for q := range batch {
			for p := range k {
				x := (*[4]uint8)(unsafe.Pointer(move(a, q*nextA+i*rowA+p*colA)))
				x0, x1, x2, x3 := int32(x[0]), int32(x[1]), int32(x[2]), int32(x[3])
				for j, w := range unsafe.Slice((*[4]int8)(unsafe.Pointer(move(b, q*nextB+p*rowB))), cols) {
					out[j] += x0*int32(w[0]) + x1*int32(w[1]) + x2*int32(w[2]) + x3*int32(w[3])
				}
			}
		}
	}
}}
