package simd

import "unsafe"

// Turned rows are short rows that lie as columns: element j of row i is element i of row j. Rows of two to four elements, one after the
// other, are parted and joined by shuffles of whole vectors. Between others and their columns the blocks of [Transpose] work, which read
// and write whole vectors: a row is shorter than that, so what they take of the rows after it is turned too and not used, and what they
// write over the rows after it is written again. Only the last rows take the way over a pad.

// TurnedRow is the longest row that is turned.
const TurnedRow = 16

// TurnPad is how many bytes a pad has.
const TurnPad = 8 << 10

// TurnedSize gives how many bytes apart turned rows are, for so many rows, and how many bytes they take.
func TurnedSize(size, rows int) (stride, bytes int) {
	stride = roundUp(rows*size, 64)
	return stride, stride * TurnedRow
}

// Turn lays rows of cols elements, one to TurnedRow, out as turned rows, which are stride bytes apart as [TurnedSize] has it. Elements
// have 4 or 8 bytes. Nothing outside the rows is read.
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
	width := roundUp(cols, max(1, wide)) * size // what is read of a row
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

// TurnBack lays turned rows out as rows of cols elements, one after the other. Nothing outside the rows is written.
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
	// What is written beyond a row is the end of its last block, and it comes first.
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

// Repeats reports whether [Repeat] has a way of its own for rows of so many elements.
func Repeats(level Level, size, cols int) bool {
	_, together, _ := interleavers(level, size, cols)
	return together != nil
}

// Repeat makes rows of cols elements, one after the other, of one element each. [Repeats] says for which.
func Repeat(level Level, size int, dst, src *byte, rows, cols int) {
	_, together, lanes := interleavers(level, size, cols)
	whole := rows / lanes * lanes
	if whole > 0 {
		together(dst, src, whole, 0)
	}
	SpreadOf(level, size)(move(dst, whole*cols*size), move(src, whole*size), rows-whole, cols, cols*size, size)
}

// interleavers are the level's ways from rows to columns and back, and of how many rows a multiple they take; nil if there are none.
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

// wholeRows is how many of the first rows have so many bytes after them before the last one ends.
func wholeRows(rows, beyond, stride int) int { return max(0, rows-(beyond+stride-1)/stride) }

// roundUp is the least multiple of m that is not below n.
func roundUp(n, m int) int { return (n + m - 1) / m * m }
