//go:build !noasm

package simd

// The micro-kernels by level and contraction. A tile is two vectors wide, and as high as the
// registers allow.
var (
	tiles32 = [...][4]Tile{
		AVX2:   {{6, 16, dot32AVX2}, {6, 16, distance32AVX2}, {6, 16, shifted32AVX2}, {3, 16, centred32AVX2}},
		AVX512: {{14, 32, dot32AVX512}, {14, 32, distance32AVX512}, {7, 32, shifted32AVX512}, {7, 32, centred32AVX512}},
	}
	tiles64 = [...][4]Tile{
		AVX2:   {{6, 8, dot64AVX2}, {6, 8, distance64AVX2}, {6, 8, shifted64AVX2}, {3, 8, centred64AVX2}},
		AVX512: {{14, 16, dot64AVX512}, {14, 16, distance64AVX512}, {7, 16, shifted64AVX512}, {7, 16, centred64AVX512}},
	}
	wideTiles32 = [...]Tile{AVX2: {2, 32, dotWide32AVX2}, AVX512: {2, 128, dotWide32AVX512}}
	wideTiles64 = [...]Tile{AVX2: {2, 16, dotWide64AVX2}, AVX512: {2, 64, dotWide64AVX512}}
)

// peakLoop returns the loop of a level and the lanes of its vectors.
func peakLoop(level Level, bits int) (loop func(iterations int), lanes int) {
	switch {
	case level == AVX512 && bits == 32:
		return peak32AVX512, 16
	case level == AVX512:
		return peak64AVX512, 8
	case level == AVX2 && bits == 32:
		return peak32AVX2, 8
	case level == AVX2:
		return peak64AVX2, 4
	case bits == 32:
		return portablePeak[float32], 1
	}
	return portablePeak[float64], 1
}

func fetchOf(level Level) (toRead, toWrite Fetch) {
	if level == Portable {
		return nil, nil
	}
	return fetchToRead, fetchToWrite
}

// shortRows returns the level's copy of short rows, and the largest number of elements of a row.
func shortRows(level Level, size int) (f func(dst *byte, rowDst int, src *byte, rowSrc, rows, cols int), most int) {
	switch {
	case level == AVX512 && size == 4:
		return shortRows32AVX512, 32
	case level == AVX512:
		return shortRows64AVX512, 16
	case level == AVX2 && size == 4:
		return shortRows32AVX2, 16
	case level == AVX2:
		return shortRows64AVX2, 8
	}
	return nil, 0
}

// transposeBlocks returns the level's transposition of whole blocks, and their size; nil if there
// is none.
func transposeBlocks(level Level, size int) (f func(dst, src *byte, rows, cols, dstStride, srcStride int), rows, cols int) {
	switch {
	case level == AVX512 && size == 4:
		return transpose32AVX512, 16, 8
	case level == AVX512:
		return transpose64AVX512, 8, 4
	case level == AVX2 && size == 4:
		return transpose32AVX2, 8, 8
	case level == AVX2:
		return transpose64AVX2, 4, 4
	}
	return nil, 0, 0
}

// collectSize returns the columns and rows of a block that the level collects from so many columns;
// 0 if there is none.
func collectSize(level Level, size, columns int) (high, wide int) {
	switch {
	case level == Portable:
		return 0, 0
	case size == 4:
		return 8, 8
	case level == AVX512 && columns >= 8:
		return 8, 4
	}
	return 4, 4
}

// collectBlocks collects rows of blocks with so many columns, from a byte of each on. It is no
// variable, so that the columns need not be allocated.
func collectBlocks(size, high int, dst *byte, columns **byte, from, rows, dstStride int) {
	switch {
	case size == 4:
		collect32AVX2(dst, columns, from, rows, dstStride)
	case high == 8:
		collect64AVX512(dst, columns, from, rows, dstStride)
	default:
		collect64AVX2(dst, columns, from, rows, dstStride)
	}
}

// An interleaver converts rows of a few elements, one after the other, to columns stride bytes
// apart, or back.
type interleaver = func(dst, src *byte, rows, stride int)

// The interleavers for rows of 2, 3 and 4 elements by level: to columns, and back.
var (
	interleavers32 = [...][3][2]interleaver{
		AVX2: {{deinterleavePairs32AVX2, interleavePairs32AVX2}, {deinterleaveTriples32AVX2, interleaveTriples32AVX2},
			{deinterleaveFours32AVX2, interleaveFours32AVX2}},
		AVX512: {{deinterleavePairs32AVX512, interleavePairs32AVX512}, {deinterleaveTriples32AVX512, interleaveTriples32AVX512},
			{deinterleaveFours32AVX512, interleaveFours32AVX512}},
	}
	interleavers64 = [...][3][2]interleaver{
		AVX2: {{deinterleavePairs64AVX2, interleavePairs64AVX2}, {deinterleaveTriples64AVX2, interleaveTriples64AVX2},
			{deinterleaveFours64AVX2, interleaveFours64AVX2}},
		AVX512: {{deinterleavePairs64AVX512, interleavePairs64AVX512}, {deinterleaveTriples64AVX512, interleaveTriples64AVX512},
			{deinterleaveFours64AVX512, interleaveFours64AVX512}},
	}
)

// The products of a matrix and a vector by level.
var (
	matVecs32 = [...]MatVec{AVX2: matVec32AVX2, AVX512: matVec32AVX512}
	matVecs64 = [...]MatVec{AVX2: matVec64AVX2, AVX512: matVec64AVX512}
)
