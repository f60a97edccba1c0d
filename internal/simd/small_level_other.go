//go:build !amd64 || noasm

package simd

// There is no assembly.
var small32, small64, smallWide64 [1]Small
