//go:build mpi && (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// keepSignals runs f, and gives signals back the handlers that they had before. Open MPI and the
// libraries below it install their own, for SIGSEGV among others: with them a program of Go ends
// where it would panic, and may overflow a goroutine's stack.
func keepSignals(f func() error) error {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, "sigaction")
	if err != nil {
		return err
	}
	var sigaction func(signal int32, new, old unsafe.Pointer) int32
	purego.RegisterFunc(&sigaction, address)
	// A struct sigaction has at most 152 bytes. Signals that may not be asked for return an error.
	type action [32]uint64
	var before [32]*action
	for signal := range before {
		a := new(action)
		if sigaction(int32(signal), nil, unsafe.Pointer(a)) == 0 {
			before[signal] = a
		}
	}
	err = f()
	for signal, a := range before {
		if a != nil {
			sigaction(int32(signal), unsafe.Pointer(a), nil) // SIGKILL and SIGSTOP have no handler
		}
	}
	return err
}
