package simd

import "unsafe"

// Turned rows are short rows transposed: element j of row i is element i of turned row j. Rows of
// two to four elements are turned and turned back by shuffles of whole vectors. Other rows are
// turned by the blocks of [Transpose], which read and write whole vectors. A row is shorter than a
// vector, so the blocks also read elements of the rows after it, whose copies are not used, and
// write over the rows after it, which are written again. Only the last rows go through a pad.

// TurnedRow is the longest row that is turned.
const TurnedRow = 16

// TurnPad is the size of a pad in bytes.
const TurnPad = 8 << 10

// TurnedSize returns the distance between turned rows, for so many rows, and the size of all, in
// bytes.
func TurnedSize(size, rows int) (stride, bytes int) {
	stride = roundUp(rows*size, 64)
	return stride, stride * TurnedRow
}

// Turn turns rows of cols elements, one to TurnedRow. The turned rows are stride bytes apart, see
// [TurnedSize]. Elements have 4 or 8 bytes. Nothing outside the rows is read.
func Turn(level Level, size int, dst, src, pad *byte, rows, cols, stride, srcStride int) {
	if apart, _, lanes := interleavers(level, size, cols); apart != nil && srcStride == cols*size {
		whole := rows / lanes * lanes
		if whole > 0 {
			apart(dst, src, whole, stride)
		}
		if rest := (rows - whole) * srcStride; rest > 0 {
			copy(unsafe.Slice(pad, rest), unsafe.Slice(move(src, whole*srcStride), rest))
			apart(move(dst, whole*size), pad, lanes, stride)
		}
		return
	}
	blocks, high, wide := transposeBlocks(min(level, AVX2), size)
	width := roundUp(cols, max(1, wide)) * size // bytes that are read of a row
	if blocks == nil || srcStride < cols*size {
		Transpose(level, size, dst, src, rows, cols, stride, srcStride)
		return
	}
	whole := wholeRows(rows, width-cols*size, srcStride) / high * high
	if whole > 0 {
		blocks(dst, src, whole, width/size, stride, srcStride)
	}
	if rest := rows - whole; rest > 0 {
		CopyRows(level, size, pad, width, move(src, whole*srcStride), srcStride, rest, cols)
		blocks(move(dst, whole*size), pad, roundUp(rest, high), width/size, stride, width)
	}
}

// TurnBack turns turned rows back into rows of cols elements, one after the other. Nothing outside
// the rows is written.
func TurnBack(level Level, size int, dst, src, pad *byte, rows, cols, stride int) {
	if _, together, lanes := interleavers(level, size, cols); together != nil {
		whole := rows / lanes * lanes
		if whole > 0 {
			together(dst, src, whole, stride)
		}
		if rest := (rows - whole) * cols * size; rest > 0 {
			together(pad, move(src, whole*size), lanes, stride)
			copy(unsafe.Slice(move(dst, whole*cols*size), rest), unsafe.Slice(pad, rest))
		}
		return
	}
	blocks, high, wide := transposeBlocks(min(level, AVX2), size)
	if blocks == nil {
		Transpose(level, size, dst, src, cols, rows, cols*size, stride)
		return
	}
	row := cols * size
	// Only the last block of a row writes beyond it, so it comes first.
	turn := func(dst *byte, from, rows int) {
		for j := (cols - 1) / high * high; rows > 0 && j >= 0; j -= high {
			blocks(move(dst, j*size), move(src, j*stride+from*size), high, rows, row, stride)
		}
	}
	whole := wholeRows(rows, roundUp(cols, high)*size-row, row) / wide * wide
	turn(dst, 0, whole)
	if rest := rows - whole; rest > 0 {
		turn(pad, whole, roundUp(rest, wide))
		copy(unsafe.Slice(move(dst, whole*row), rest*row), unsafe.Slice(pad, rest*row))
	}
}

// Repeats reports whether [Repeat] works for rows of so many elements.
func Repeats(level Level, size, cols int) bool {
	_, together, _ := interleavers(level, size, cols)
	return together != nil
}

// Repeat writes rows of cols elements, one after the other, each of which repeats one element of
// src. [Repeats] tells for which cols it works.
func Repeat(level Level, size int, dst, src *byte, rows, cols int) {
	_, together, lanes := interleavers(level, size, cols)
	whole := rows / lanes * lanes
	if whole > 0 {
		together(dst, src, whole, 0)
	}
	SpreadOf(level, size)(move(dst, whole*cols*size), move(src, whole*size), rows-whole, cols, cols*size, size)
}

// interleavers returns the level's loops from rows to columns and back, which take a multiple of so
// many rows; nil if there are none.
func interleavers(level Level, size, cols int) (apart, together interleaver, lanes int) {
	byLevel := interleavers32[:]
	if size == 8 {
		byLevel = interleavers64[:]
	}
	if size < 4 || cols < 2 || cols > 4 || int(level) >= len(byLevel) || byLevel[level][0][0] == nil {
		return nil, nil, 0
	}
	pair := byLevel[level][cols-2]
	return pair[0], pair[1], 32 / size * int(level-AVX2+1)
}

// wholeRows returns how many rows have at least beyond bytes of further rows after them.
func wholeRows(rows, beyond, stride int) int { return max(0, rows-(beyond+stride-1)/stride) }

// roundUp returns the least multiple of m that is not below n.
func roundUp(n, m int) int { return (n + m - 1) / m * m }
