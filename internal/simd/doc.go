// Package simd holds vector loops: AVX-512 and AVX2 assembly for amd64, written by internal/asmgen,
// and plain Go for every other machine and for builds with the tag noasm. The loops take pointers
// and counts; internal/kernel handles shapes, strides of more than two axes and splitting over
// workers.
//
// Each kind of loop is a type, with a function that gives the loop of a [Level] for a type of
// elements.
package simd
