package simd

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/half"
)

// BrainTile returns the micro-kernel of products of operands in pairs: an element of 4 bytes holds
// the bfloat16 numbers of p = 2q and 2q + 1, and Run sums the products of both over q in float32.
// Subnormal numbers count as 0. ok is false where the machine or the level has no such instruction;
// then operands are to be rounded by [RoundBrain].
func BrainTile(level Level) (t Tile, ok bool) { return brainTile(level) }

// BrainPanel lays k rows of cols float32 out in pairs, each number rounded to the nearest bfloat16:
// element q,j of dst holds those of rows 2q and 2q + 1, of which the last is 0 if k is odd. Rows of
// dst are width elements apart. Element p,j is p·row+j·col bytes from src. Where rows lie side by
// side, as in a transposed matrix, temp holds k/2·cols elements, rounded up. The machine must have [BrainTile].
func BrainPanel(level Level, dst *byte, width int, src *byte, k, cols, row, col int, temp *byte) {
	lines := (k + 1) / 2
	switch {
	case col == 4 || cols == 1:
		if k > 1 {
			brainPairs(dst, 4*width, src, row, k/2, cols)
		}
		if k%2 == 1 {
			brainLast(dst, src, width, k-1, cols, row, col)
		}
	case row == 4:
		BrainRows(level, temp, 4*lines, src, col, cols, k)
		Panel(level, 4, dst, width, temp, lines, cols, 4, 4*lines)
	default:
		for q := range k / 2 {
			for j := range cols {
				low := *(*float32)(unsafe.Pointer(move(src, 2*q*row+j*col)))
				high := *(*float32)(unsafe.Pointer(move(src, (2*q+1)*row+j*col)))
				*(*uint32)(unsafe.Pointer(move(dst, 4*(q*width+j)))) = uint32(half.BrainBits(high))<<16 | uint32(half.BrainBits(low))
			}
		}
		if k%2 == 1 {
			brainLast(dst, src, width, k-1, cols, row, col)
		}
	}
}

// brainLast lays the last row out, which has no neighbour.
func brainLast(dst, src *byte, width, p, cols, row, col int) {
	for j := range cols {
		v := *(*float32)(unsafe.Pointer(move(src, p*row+j*col)))
		*(*uint32)(unsafe.Pointer(move(dst, 4*(p/2*width+j)))) = uint32(half.BrainBits(v))
	}
}

// BrainRows rounds rows of cols float32 to bfloat16. Rows are rowDst and rowSrc bytes apart, their
// elements side by side; after an odd number of columns comes a 0. The machine must have
// [BrainTile].
func BrainRows(_ Level, dst *byte, rowDst int, src *byte, rowSrc, rows, cols int) {
	if rows > 0 && cols > 0 {
		brainRows(dst, rowDst, src, rowSrc, rows, cols)
	}
}

// RoundBrain rounds numbers to the nearest bfloat16, in place.
func RoundBrain(x []float32) {
	for i, v := range x {
		x[i] = half.Brain(half.BrainBits(v))
	}
}
