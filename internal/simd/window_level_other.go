//go:build !amd64 || noasm

package simd

// There is no assembly.
var fours [1][2]four
