//go:build !linux

package kernel

func largePages([]byte) {}
