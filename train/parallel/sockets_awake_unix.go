//go:build unix

package parallel

import (
	"io"
	"net"
	"os"
	"syscall"
)

// awake reads and writes a socket as far as that goes without waiting. It is no use to two
// goroutines at once.
type awake struct {
	socket      syscall.RawConn
	bytes       []byte
	n           int
	err         error
	read, write func(fd uintptr) bool
	come        func(fd uintptr) bool // reports whether there is something to read
}

// newAwake returns nil for a connection that is no socket.
func newAwake(c net.Conn) *awake {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	socket, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	a := &awake{socket: socket}
	a.read = func(fd uintptr) bool { a.n, a.err = syscall.Read(int(fd), a.bytes); return true }
	a.write = func(fd uintptr) bool { a.n, a.err = syscall.Write(int(fd), a.bytes); return true }
	first := make([]byte, 1)
	a.come = func(fd uintptr) bool {
		for {
			_, _, err := syscall.Recvfrom(int(fd), first, syscall.MSG_PEEK)
			if err != syscall.EINTR {
				return err != syscall.EAGAIN
			}
		}
	}
	return a
}

// wait sleeps until there is something to read, the end of the connection or an error, or until its
// deadline.
func (a *awake) wait() error { return a.socket.Read(a.come) }

// Read returns errNotYet where nothing has come.
func (a *awake) Read(b []byte) (int, error) {
	if err := a.do(a.socket.Read, a.read, b); err != nil {
		return 0, notYet("read", err)
	}
	if a.n == 0 {
		return 0, io.EOF
	}
	return a.n, nil
}

// Write returns errNotYet where not all is taken.
func (a *awake) Write(b []byte) (int, error) {
	if err := a.do(a.socket.Write, a.write, b); err != nil {
		return 0, notYet("write", err)
	}
	if a.n < len(b) {
		return a.n, errNotYet
	}
	return a.n, nil
}

func (a *awake) do(wait func(func(fd uintptr) bool) error, call func(fd uintptr) bool, b []byte) error {
	a.bytes = b
	err := wait(call)
	a.bytes = nil
	if err != nil {
		return err
	}
	return a.err
}

func notYet(call string, err error) error {
	errno, ok := err.(syscall.Errno)
	switch {
	case !ok:
		return err
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		return errNotYet
	default:
		return os.NewSyscallError(call, errno)
	}
}
