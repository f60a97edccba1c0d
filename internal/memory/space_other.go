//go:build !linux

package memory

func addressSpace() (bytes int64, limited bool) { return 0, false }
