package pool

import "syscall"

// yield lets another thread that is queued for this core run. Without it a helper that the kernel has put on the caller's
// core would spin there in the caller's stead.
func yield() { _, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
