//go:build !linux

package pool

// yield does nothing where the standard library cannot ask the system for it.
func yield() {}
