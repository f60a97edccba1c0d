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
	if apart, _, lanes := interleavers(level, size, cols); apart != nil && srcStride == cols*size && rows >= lanes {
		whole := rows / lanes * lanes
		apart(dst, src, whole, dstStride)
		if whole < rows {
			edges(size, move(dst, whole*size), move(src, whole*srcStride), rows-whole, cols, dstStride, srcStride)
		}
		return
	}
	if _, together, lanes := interleavers(level, size, rows); together != nil && dstStride == rows*size && cols >= lanes {
		whole := cols / lanes * lanes
		together(dst, src, whole, srcStride)
		if whole < cols {
			edges(size, move(dst, whole*dstStride), move(src, whole*size), rows, cols-whole, dstStride, srcStride)
		}
		return
	}
	// The cache lines that a row of blocks writes stay in the L1 cache until the next row of blocks
	// fills them.
	const most = 256
	blocks, high, wide := transposeBlocks(level, size)
	for j := 0; j < cols; j += most {
		w := min(most, cols-j)
		d, s := move(dst, j*dstStride), move(src, j*size)
		if blocks == nil || rows < high || w < wide {
			edges(size, d, s, rows, w, dstStride, srcStride)
			continue
		}
		r, c := rows/high*high, w/wide*wide
		at := func(i, j, rows, cols int) {
			blocks(move(d, i*size+j*dstStride), move(s, i*srcStride+j*size), rows, cols, dstStride, srcStride)
		}
		at(0, 0, r, c)
		// The last blocks begin where they end with the array: some elements are copied twice.
		if c < w {
			at(0, w-wide, r, wide)
		}
		if r < rows {
			at(rows-high, 0, high, c)
			if c < w {
				at(rows-high, w-wide, high, wide)
			}
		}
	}
}

// edges transposes few elements, or all where there are no blocks.
func edges(size int, dst, src *byte, rows, cols, dstStride, srcStride int) {
	if size == 4 {
		transposeEach[uint32](dst, src, rows, cols, dstStride, srcStride)
	} else {
		transposeEach[uint64](dst, src, rows, cols, dstStride, srcStride)
	}
}

// transposeEach transposes element by element, along the longer side.
func transposeEach[T word](dst, src *byte, rows, cols, dstStride, srcStride int) {
	var e T
	size := int(unsafe.Sizeof(e))
	outer, inner, dOuter, dInner, sOuter, sInner := rows, cols, size, dstStride, srcStride, size
	if rows > cols {
		outer, inner, dOuter, dInner, sOuter, sInner = cols, rows, dstStride, size, size, srcStride
	}
	for i := range outer {
		d, s := unsafe.Pointer(move(dst, i*dOuter)), unsafe.Pointer(move(src, i*sOuter))
		for j := range inner {
			*(*T)(unsafe.Add(d, j*dInner)) = *(*T)(unsafe.Add(s, j*sInner))
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
