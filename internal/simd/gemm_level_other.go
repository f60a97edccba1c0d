//go:build !amd64 || noasm

package simd

// There is no assembly.
var (
	tiles32, tiles64         [1][4]Tile
	wideTiles32, wideTiles64 [1]Tile
)

// peakLoop returns the loop of a level and the lanes of its vectors.
func peakLoop(_ Level, bits int) (loop func(iterations int), lanes int) {
	if bits == 32 {
		return portablePeak[float32], 1
	}
	return portablePeak[float64], 1
}

func fetchOf(Level) (toRead, toWrite Fetch) { return nil, nil }

func shortRows(Level, int) (f func(dst *byte, rowDst int, src *byte, rowSrc, rows, cols int), most int) {
	return nil, 0
}

func transposeBlocks(Level, int) (f func(dst, src *byte, rows, cols, dstStride, srcStride int), rows, cols int) {
	return nil, 0, 0
}

func collectSize(Level, int, int) (high, wide int) { return 0, 0 }

func collectBlocks(int, int, *byte, **byte, int, int, int) {}

type interleaver = func(dst, src *byte, rows, stride int)

var interleavers32, interleavers64 [1][3][2]interleaver

var matVecs32, matVecs64 [1]MatVec
