package parallel

import "syscall"

// yield lets another thread have this core, such as that of a rank which is waited for, if there are
// more of them than cores.
func yield() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
