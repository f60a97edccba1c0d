//go:build !amd64 || noasm

package simd

func quadReduceOf(Level) BatchReduce { return portableQuadReduce }

func quadStrip(Level) func(dst *byte, rowDst int, src *byte, rowSrc, quads int) { return nil }
