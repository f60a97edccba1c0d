//go:build mpi && (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is a loaded library. Its methods are for the thread that starts it alone.
type library struct {
	file, product string // "libmpi.so.40", "Open MPI 4.1.4"
	abi           abi
	world         uintptr // a duplicate of MPI_COMM_WORLD, once it is started
	c             *cells

	// Addresses of functions.
	getVersion, initialized, finalized, initThread, finalize, abortJob uintptr
	setErrorHandler, duplicate, getRank, getSize, getError             uintptr
	isend, irecv, ibarrier, test                                       uintptr
	usleep, yield                                                      uintptr

	arguments [8]uintptr // of the call that goes on: a slice of the caller's would be allocated
}

// cells is the memory that C writes and reads besides the caller's slices. It is on the heap,
// because stacks move.
type cells struct {
	text         [8192]byte // MPI_MAX_LIBRARY_VERSION_STRING of MPICH, the longest
	length       int32
	value        int32
	communicator uint64           // pointers of Open MPI, ints of MPICH
	requests     [requests]uint64 // the same
	mine, theirs announcement     // what this rank and its peer announce
}

// The requests of an exchange, and that of a barrier.
const (
	recvAnnouncement = iota
	sendAnnouncement
	recvData
	sendData
	barrier
	requests
)

// announcement goes before the data of an exchange.
type announcement struct{ sent, wanted uint64 } // bytes

const announcementSize = unsafe.Sizeof(announcement{})

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// raw calls a function that returns an int.
func (l *library) raw(function uintptr, arguments ...uintptr) int32 {
	n := copy(l.arguments[:], arguments)
	r, _, _ := purego.SyscallN(function, l.arguments[:n]...)
	return int32(r)
}

// call calls a function that returns an error code of MPI.
func (l *library) call(name string, function uintptr, arguments ...uintptr) error {
	if code := l.raw(function, arguments...); code != 0 {
		return l.failure(name, code)
	}
	return nil
}

func (l *library) failure(name string, code int32) error {
	c := l.c
	c.length = 0
	if l.raw(l.getError, uintptr(code), address(&c.text[0]), address(&c.length)) != 0 || c.length <= 0 {
		return fmt.Errorf("%s: error %d", name, code)
	}
	return fmt.Errorf("%s: %s", name, firstLine(string(c.text[:c.length])))
}

// version returns the library's description of itself, of several lines for some.
func (l *library) version() (string, error) {
	c := l.c
	c.length = 0
	if l.raw(l.getVersion, address(&c.text[0]), address(&c.length)) != 0 || c.length <= 0 || int(c.length) > len(c.text) {
		return "", errors.New("MPI_Get_library_version gives nothing")
	}
	return string(c.text[:c.length]), nil
}

func (l *library) flag(name string, function uintptr) (bool, error) {
	err := l.call(name, function, address(&l.c.value))
	return l.c.value != 0, err
}

// start starts MPI and makes a communicator for the package's own messages. Errors are returned from
// then on; one of MPI_Init_thread itself ends the process with a message of the library's.
func (l *library) start() (rank, ranks int, err error) {
	c := l.c
	if ended, err := l.flag("MPI_Finalized", l.finalized); err != nil || ended {
		return 0, 0, errors.Join(err, errors.New("MPI was closed: it starts once in a process"))
	}
	if begun, err := l.flag("MPI_Initialized", l.initialized); err != nil || begun {
		return 0, 0, errors.Join(err, errors.New("MPI is open already: it starts once in a process"))
	}
	if err := l.call("MPI_Init_thread", l.initThread, 0, 0, funneled, address(&c.value)); err != nil {
		return 0, 0, err
	}
	if c.value < funneled {
		return 0, 0, errors.New("the library was built for programs of one thread: want MPI_THREAD_FUNNELED")
	}
	if err := l.call("MPI_Comm_set_errhandler", l.setErrorHandler, l.abi.world, l.abi.errorsReturn); err != nil {
		return 0, 0, err
	}
	if err := l.call("MPI_Comm_rank", l.getRank, l.abi.world, address(&c.value)); err != nil {
		return 0, 0, err
	}
	rank = int(c.value)
	err = l.call("MPI_Comm_size", l.getSize, l.abi.world, address(&c.value))
	return rank, int(c.value), err
}

// connect makes the communicator of the package's own messages, which other users of MPI in the
// process cannot meet. All ranks call it.
func (l *library) connect() error {
	if err := l.call("MPI_Comm_dup", l.duplicate, l.abi.world, address(&l.c.communicator)); err != nil {
		return err
	}
	l.world = uintptr(l.c.communicator)
	if !l.abi.pointers {
		l.world = uintptr(*(*uint32)(unsafe.Pointer(&l.c.communicator)))
	}
	return l.call("MPI_Comm_set_errhandler", l.setErrorHandler, l.world, l.abi.errorsReturn)
}

// send and receive begin to send and to receive bytes under one of the requests, which is also the
// message's tag: those of one tag arrive in order.
func (l *library) send(request int, from uintptr, bytes, peer, tag int) error {
	return l.call("MPI_Isend", l.isend, from, uintptr(bytes), l.abi.bytes, uintptr(peer), uintptr(tag), l.world, address(&l.c.requests[request]))
}

func (l *library) receive(request int, into uintptr, bytes, peer, tag int) error {
	return l.call("MPI_Irecv", l.irecv, into, uintptr(bytes), l.abi.bytes, uintptr(peer), uintptr(tag), l.world, address(&l.c.requests[request]))
}

// done reports whether what was begun under a request is complete, and lets the library work on it.
func (l *library) done(request int) (bool, error) {
	err := l.call("MPI_Test", l.test, address(&l.c.requests[request]), address(&l.c.value), l.abi.statusIgnore)
	return l.c.value != 0, err
}

// abort ends the processes of all ranks, this one among them.
func (l *library) abort() { _ = l.call("MPI_Abort", l.abortJob, l.abi.world, 1) }
