package main

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// startOn starts a command on one of the cores that this process has, counted round, as launchers of
// MPI bind ranks.
func startOn(core int, cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || all.Count() == 0 {
		return cmd.Start()
	}
	core %= all.Count()
	for cpu := 0; !one.IsSet(cpu); cpu++ {
		if all.IsSet(cpu) {
			if core == 0 {
				one.Set(cpu)
				break
			}
			core--
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return cmd.Start()
	}
	defer unix.SchedSetaffinity(0, &all)
	return cmd.Start() // a process has the cores of the thread that starts it
}
