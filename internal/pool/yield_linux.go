package pool

import "syscall"

// yield lets another thread that is queued for this core run. Without it, a helper that the kernel
// put on the caller's core would spin there and keep the caller from running.
func yield() { _, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
