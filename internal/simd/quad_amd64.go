//go:build !noasm

package simd

import "golang.org/x/sys/cpu"

func quadReduceOf(level Level) BatchReduce {
	switch {
	case level == Portable:
		return portableQuadReduce
	case level == AVX512 && cpu.X86.HasAVX512VNNI:
		return BatchReduce{14, 32, quadReduce32AVX512}
	}
	return BatchReduce{4, 16, quadReduce32AVX2}
}

// quadStrip returns the packing of 16 columns; nil if there is none.
func quadStrip(level Level) func(dst *byte, rowDst int, src *byte, rowSrc, quads int) {
	if level == Portable {
		return nil
	}
	return quadColumns32AVX2
}
