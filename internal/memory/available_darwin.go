package memory

import "golang.org/x/sys/unix"

// available is all the memory of the machine: the system says what is free, but not what it would free.
func available() (bytes int64, ok bool) {
	n, err := unix.SysctlUint64("hw.memsize")
	return int64(n), err == nil
}
