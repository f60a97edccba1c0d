//go:build !noasm

package simd

// fours holds the loops by level, for floats of 32 and of 64 bits.
var fours = [...][2]four{
	AVX2:   {{maxOfFour32AVX2, layAtMax32AVX2, takeAtMax32AVX2}, {maxOfFour64AVX2, layAtMax64AVX2, takeAtMax64AVX2}},
	AVX512: {{maxOfFour32AVX512, layAtMax32AVX512, takeAtMax32AVX512}, {maxOfFour64AVX512, layAtMax64AVX512, takeAtMax64AVX512}},
}
