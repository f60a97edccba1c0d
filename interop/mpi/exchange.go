//go:build mpi && (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// exchanger is the side of MPI's thread.
type exchanger struct {
	library *library
	piece   int // the most bytes of a message
	abort   <-chan struct{}
	// Of memory that the library reads and writes while an exchange goes on. After a failure it stays
	// pinned, because the library may write it still.
	pins runtime.Pinner
}

// exchange sends and receives at once. Each side first announces how many bytes it sends and wants,
// so that an order of calls that the ranks do not share is an error; and from the announcement on it
// is known that the peer is there, and what is left to wait for is the network.
func (e *exchanger) exchange(j task) error {
	l, c := e.library, e.library.c
	e.pin(unsafe.Pointer(c))
	e.pin(unsafe.Pointer(unsafe.SliceData(j.send)))
	e.pin(unsafe.Pointer(unsafe.SliceData(j.recv)))

	c.mine = announcement{uint64(len(j.send)), uint64(len(j.recv))}
	err := l.receive(recvAnnouncement, address(&c.theirs), int(announcementSize), j.peer, recvAnnouncement)
	if err == nil {
		err = l.send(sendAnnouncement, address(&c.mine), int(announcementSize), j.peer, recvAnnouncement)
	}
	for at := 0; err == nil && (at == 0 || at < len(j.send) || at < len(j.recv)); at += e.piece {
		var pending [requests]bool
		if n := min(len(j.recv)-at, e.piece); n > 0 {
			pending[recvData], err = true, l.receive(recvData, address(&j.recv[at]), n, j.peer, recvData)
		}
		if n := min(len(j.send)-at, e.piece); n > 0 && err == nil {
			pending[sendData], err = true, l.send(sendData, address(&j.send[at]), n, j.peer, recvData)
		}
		if at == 0 && err == nil {
			var announced [requests]bool
			announced[recvAnnouncement] = true
			if err = e.wait(j.ctx, j.timeout, &announced, 0); err == nil && (c.theirs != announcement{c.mine.wanted, c.mine.sent}) {
				return fmt.Errorf("mpi: exchange with rank %d: it sends %d bytes and wants %d, but this rank wants %d and sends %d",
					j.peer, c.theirs.sent, c.theirs.wanted, c.mine.wanted, c.mine.sent)
			}
			pending[sendAnnouncement] = true
		}
		if err == nil {
			err = e.wait(j.ctx, j.timeout, &pending, min(e.piece, max(len(j.send), len(j.recv))-at))
		}
	}
	if err != nil {
		return fmt.Errorf("mpi: exchange with rank %d: %w", j.peer, err)
	}
	e.pins.Unpin()
	return nil
}

// pin keeps memory where it is. What is not of Go's heap, and would panic, stays anyway.
func (e *exchanger) pin(p unsafe.Pointer) {
	if p == nil {
		return
	}
	defer func() { _ = recover() }()
	e.pins.Pin(p)
}

// A wait polls without a break at first, offering the core to others between two looks; and then with
// naps in between of a 64th of the time waited, so that they add little to it and leave the core free.
const (
	spin        = 50 * time.Microsecond
	transferred = time.Nanosecond // a byte, while the network is as fast as this
	shortest    = 20 * time.Microsecond
	longest     = time.Millisecond
)

// wait waits until the pending requests are complete, for which bytes have to come and go from a peer
// that is there. It ends with an error if none becomes complete within a timeout, unless that is 0,
// and with the context.
func (e *exchanger) wait(ctx context.Context, timeout time.Duration, pending *[requests]bool, bytes int) error {
	l := e.library
	begin := time.Now()
	progress := begin
	hot := spin + time.Duration(bytes)*transferred
	for {
		left := false
		for request, is := range pending {
			if !is {
				continue
			}
			done, err := l.done(request)
			if err != nil {
				return fmt.Errorf("%w (%w)", err, parallel.ErrLost)
			}
			if done {
				pending[request] = false
				progress = time.Now()
			} else {
				left = true
			}
		}
		if !left {
			return nil
		}
		now := time.Now()
		waited := now.Sub(begin)
		if waited < hot {
			l.raw(l.yield)
			continue
		}
		select {
		case <-e.abort:
			l.abort()
			return errors.New("the job is aborted")
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		if timeout > 0 && now.Sub(progress) > timeout {
			return fmt.Errorf("it was silent for %v: %w", timeout, parallel.ErrLost)
		}
		nap := min(max(waited/64, shortest), longest)
		if bytes > 0 {
			nap = shortest
		}
		l.raw(l.usleep, uintptr(nap.Microseconds()))
	}
}

// end waits for all ranks, however long they take, with naps as MPI_Finalize would not, and then ends
// MPI.
func (e *exchanger) end() error {
	l := e.library
	e.pin(unsafe.Pointer(l.c))
	err := l.call("MPI_Ibarrier", l.ibarrier, l.world, address(&l.c.requests[barrier]))
	if err == nil {
		err = e.wait(context.Background(), 0, &[requests]bool{barrier: true}, 0)
	}
	if err == nil {
		e.pins.Unpin()
		err = l.call("MPI_Finalize", l.finalize)
	}
	if err != nil {
		return fmt.Errorf("mpi: the end: %w", err)
	}
	return nil
}
