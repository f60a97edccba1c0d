//go:build !noasm

package simd

// The micro-kernels by level, as large as those of the dot product.
var (
	batchReduce32 = [...]BatchReduce{AVX2: {6, 16, batchReduce32AVX2}, AVX512: {14, 32, batchReduce32AVX512}}
	batchReduce64 = [...]BatchReduce{AVX2: {6, 8, batchReduce64AVX2}, AVX512: {14, 16, batchReduce64AVX512}}

	windowReduce32 = [...]BatchReduce{AVX2: {6, 16, windowReduce32AVX2}, AVX512: {14, 32, windowReduce32AVX512}}
	windowReduce64 = [...]BatchReduce{AVX2: {6, 8, windowReduce64AVX2}, AVX512: {14, 16, windowReduce64AVX512}}
)
