package simd

// Collect makes rows, dstStride bytes apart, of columns that lie anywhere: element j of the column
// that begins at columns[i] becomes element i of row j. Elements have 4 or 8 bytes, and no row
// overlaps the one before it. Nothing outside the columns is read, and nothing outside the rows is
// written.
func Collect(level Level, size int, dst *byte, columns []*byte, rows, dstStride int) {
	high, wide := collectSize(level, size, len(columns))
	switch {
	case high == 0 || rows < wide:
		collectEdge(size, dst, columns, 0, rows, dstStride)
	case len(columns) >= high:
		collectWhole(high, wide, size, dst, columns, rows, dstStride)
	default:
		// A block also writes over the rows after it, which are written again.
		var full [8]*byte
		for i := range full {
			full[i] = columns[min(i, len(columns)-1)]
		}
		whole := 0
		if beyond := (high - len(columns)) * size; dstStride == len(columns)*size {
			whole = wholeRows(rows, beyond, dstStride) / wide * wide
		}
		if whole > 0 {
			collectBlocks(size, high, dst, &full[0], 0, whole, dstStride)
		}
		collectEdge(size, dst, columns, whole, rows, dstStride)
	}
}

// collectWhole is for a block of columns or more, and of rows.
func collectWhole(high, wide, size int, dst *byte, columns []*byte, rows, dstStride int) {
	// The cache lines that a row of blocks writes stay in the L1 cache until the next row of blocks
	// fills them.
	const most = 64
	for j := 0; j < rows; j += most {
		n := min(most, rows-j)
		for i := 0; i < len(columns); i += high {
			first := min(i, len(columns)-high) // the last blocks begin where they end with the array
			to := move(dst, first*size)
			if whole := n / wide * wide; whole > 0 {
				collectBlocks(size, high, move(to, j*dstStride), &columns[first], j*size, whole, dstStride)
			}
			if n%wide > 0 {
				last := j + n - wide
				collectBlocks(size, high, move(to, last*dstStride), &columns[first], last*size, wide, dstStride)
			}
		}
	}
}

// collectEdge copies rows [from,to) element by element.
func collectEdge(size int, dst *byte, columns []*byte, from, to, dstStride int) {
	if size == 4 {
		collectEach[uint32](dst, columns, from, to, dstStride)
	} else {
		collectEach[uint64](dst, columns, from, to, dstStride)
	}
}

func collectEach[T word](dst *byte, columns []*byte, from, to, dstStride int) {
	for j := from; j < to; j++ {
		row := slice[T](move(dst, j*dstStride), len(columns))
		for i, c := range columns {
			row[i] = slice[T](c, to)[j]
		}
	}
}
