//go:build !amd64 || noasm

package simd

// There is no assembly.
var batchReduce32, batchReduce64, windowReduce32, windowReduce64 [1]BatchReduce
