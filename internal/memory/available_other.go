//go:build !linux && !darwin && !windows

package memory

func available() (bytes int64, ok bool) { return 0, false }
