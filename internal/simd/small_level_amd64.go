//go:build !noasm

package simd

// The small products by level.
var (
	small32     = [...]Small{AVX2: {8, smallProducts32AVX2}, AVX512: {8, smallProducts32AVX512}}
	small64     = [...]Small{AVX2: {4, smallProducts64AVX2}, AVX512: {4, smallProducts64AVX512}}
	smallWide64 = [...]Small{AVX2: {4, smallProducts64AVX2}, AVX512: {8, smallWide64AVX512}}
)
