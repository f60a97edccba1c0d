//go:build !amd64 || noasm

package simd

func loops32(Level) *loops { return nil }
func loops64(Level) *loops { return nil }
