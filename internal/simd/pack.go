package simd

import "unsafe"

// word is an element that is only moved.
type word interface{ uint32 | uint64 }

// Panel copies k rows of cols elements to dst, as a micro-kernel of the level reads its right
// operand: rows of dst are width elements apart, and elements beyond cols stay as they are. Element
// p,j is p·row+j·col bytes from src. Elements have 4 or 8 bytes.
func Panel(level Level, size int, dst *byte, width int, src *byte, k, cols, row, col int) {
	switch {
	case col == size || cols == 1:
		CopyRows(level, size, dst, size*width, src, row, k, cols)
	case row == size && k > 1:
		Transpose(level, size, dst, src, cols, k, size*width, col)
	case size == 4:
		gather[uint32](dst, src, k, cols, width, row, col)
	default:
		gather[uint64](dst, src, k, cols, width, row, col)
	}
}

// CopyRows copies rows of cols elements; rows are rowDst and rowSrc bytes apart, their elements
// side by side. Elements have 4 or 8 bytes.
func CopyRows(level Level, size int, dst *byte, rowDst int, src *byte, rowSrc, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	if f, most := shortRows(level, size); cols <= most {
		f(dst, rowDst, src, rowSrc, rows, cols)
		return
	}
	for i := range rows {
		copy(unsafe.Slice(move(dst, i*rowDst), cols*size), unsafe.Slice(move(src, i*rowSrc), cols*size))
	}
}

// Transpose copies element i,j of src to element j,i of dst. The strides are the distances of their
// rows in bytes. Elements have 4 or 8 bytes; the two arrays do not overlap.
func Transpose(level Level, size int, dst, src *byte, rows, cols, dstStride, srcStride int) {
	// The cache lines that a row of blocks writes stay in the L1 cache until the next row of blocks
	// fills them.
	const most = 256
	blocks, high, wide := transposeBlocks(level, size)
	for j := 0; j < cols; j += most {
		w := min(most, cols-j)
		d, s := move(dst, j*dstStride), move(src, j*size)
		r, c := 0, 0
		if blocks != nil && rows >= high && w >= wide {
			r, c = rows/high*high, w/wide*wide
			blocks(d, s, r, c, dstStride, srcStride)
		}
		if size == 4 {
			transposeEdges[uint32](d, s, rows, w, r, c, dstStride, srcStride)
		} else {
			transposeEdges[uint64](d, s, rows, w, r, c, dstStride, srcStride)
		}
	}
}

// transposeEdges transposes the elements outside of the first doneRows×doneCols.
func transposeEdges[T word](dst, src *byte, rows, cols, doneRows, doneCols, dstStride, srcStride int) {
	var e T
	size := int(unsafe.Sizeof(e))
	first := 0
	if doneCols == cols {
		first = doneRows
	}
	for i := first; i < rows; i++ {
		j := 0
		if i < doneRows {
			j = doneCols
		}
		d, s := i*size+j*dstStride, i*srcStride+j*size
		for ; j < cols; j++ {
			*(*T)(unsafe.Pointer(move(dst, d))) = *(*T)(unsafe.Pointer(move(src, s)))
			d += dstStride
			s += size
		}
	}
}

// gather is Panel for any strides.
func gather[T word](dst, src *byte, k, cols, width, row, col int) {
	for p := range k {
		d := unsafe.Slice((*T)(unsafe.Pointer(dst)), (k-1)*width+cols)[p*width:][:cols]
		s := p * row
		for j := range d {
			d[j] = *(*T)(unsafe.Pointer(move(src, s)))
			s += col
		}
	}
}

// move returns p moved by some bytes.
func move(p *byte, by int) *byte { return (*byte)(unsafe.Add(unsafe.Pointer(p), by)) }
