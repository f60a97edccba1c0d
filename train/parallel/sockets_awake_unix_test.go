//go:build unix

package parallel

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// TestSocketsFull: two ranks that both find their sockets full, until they wait, go on when they are not.
func TestSocketsFull(t *testing.T) {
	all := connected(t, freeAddress(t, "unix"), 2, Timeout(5*time.Second))
	for _, s := range all {
		a := s.(*sockets).links[1-s.Rank()].data.awake
		write, calls := a.write, 0
		a.write = func(fd uintptr) bool {
			if calls++; calls > 3 && calls < 10*patience {
				a.n, a.err = -1, syscall.EAGAIN
				return true
			}
			return write(fd)
		}
	}
	long := [][2]int{{4 * pieceBytes, 4 * pieceBytes}, {5, pieceBytes}, {4*pieceBytes + 1, 3*pieceBytes + 2}}
	for rank, err := range together(all, func(s Transport) error { return exchanges(context.Background(), s, long) }) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for rank, err := range together(all, Transport.Close) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestLeftOfHeader: the bytes of a header that has come in part are not those of the slice.
func TestLeftOfHeader(t *testing.T) {
	r := frameReader{slice: make([]byte, 5), got: 5}
	if r.left() != 5 {
		t.Errorf("%d bytes are left of 5, of which none has come", r.left())
	}
	r.within = true
	if r.left() != 0 {
		t.Errorf("%d bytes are left of 5, which have come", r.left())
	}
}
