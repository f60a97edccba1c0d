//go:build !noasm

package simd

import "golang.org/x/sys/cpu"

func brainTile(level Level) (Tile, bool) {
	return Tile{14, 32, brain32AVX512}, level == AVX512 && cpu.X86.HasAVX512BF16
}

func brainPairs(dst *byte, rowDst int, src *byte, rowSrc, pairs, cols int) {
	brainPairs32AVX512(dst, rowDst, src, rowSrc, pairs, cols)
}

func brainRows(dst *byte, rowDst int, src *byte, rowSrc, rows, cols int) {
	brainRows32AVX512(dst, rowDst, src, rowSrc, rows, cols)
}
