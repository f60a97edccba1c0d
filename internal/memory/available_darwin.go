package memory

import "golang.org/x/sys/unix"

// available returns all the memory of the machine: the system tells what is free, but not what it
// could free.
func available() (bytes int64, ok bool) {
	n, err := unix.SysctlUint64("hw.memsize")
	return int64(n), err == nil
}
