//go:build mpi && (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// transport is the caller's side: its methods hand their work to the goroutine that calls MPI.
type transport struct {
	rank, ranks int
	name        string
	work        chan task
	done        chan error
	abort       chan struct{} // closed by the first Abort
	ended       chan struct{} // closed when MPI has been finalized
	aborting    sync.Once

	mu      sync.Mutex // of one call at a time
	timeout time.Duration
	closed  bool
	failed  error // what ended the job for this rank
}

// task is what the goroutine is asked for: an exchange, or the end.
type task struct {
	ctx        context.Context
	timeout    time.Duration // how long the peer may be silent
	end        bool
	peer       int
	send, recv []byte
}

// opening is held by one Open at a time, because MPI is one thing in a process.
var opening sync.Mutex

func open(ctx context.Context, o Options) (parallel.Transport, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mpi: %w", err)
	}
	t := &transport{timeout: o.Timeout, work: make(chan task), done: make(chan error, 1), abort: make(chan struct{}), ended: make(chan struct{})}
	go t.serve(o)
	timer := time.NewTimer(o.Timeout)
	defer timer.Stop()
	select {
	case err := <-t.done:
		if err != nil {
			return nil, err
		}
		return t, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("mpi: the start: %w", context.Cause(ctx))
	case <-timer.C:
		return nil, fmt.Errorf("mpi: the start waited %v for other ranks: %w", o.Timeout, parallel.ErrLost)
	}
}

// serve starts MPI and makes all calls of it, on one thread.
func (t *transport) serve(o Options) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	e := &exchanger{piece: o.piece, abort: t.abort}
	err := t.start(e, o)
	t.done <- err
	if err != nil {
		return
	}
	for {
		select {
		case j := <-t.work:
			if j.end {
				err := e.end()
				t.done <- err
				if err == nil {
					close(t.ended)
					return
				}
			} else {
				t.done <- e.exchange(j)
			}
		case <-t.abort:
			e.library.abort()
			return
		}
	}
}

func (t *transport) start(e *exchanger, o Options) error {
	opening.Lock()
	defer opening.Unlock()
	return keepSignals(func() error {
		l, err := load(o.Library, os.Getenv)
		if err != nil {
			return err
		}
		named := fmt.Sprintf("%s (%s)", l.product, l.file)
		if t.rank, t.ranks, err = l.start(); err != nil {
			return fmt.Errorf("mpi: %s: %w", named, err)
		}
		if err := launcherOf(os.Getenv).matches(t.ranks, named); err != nil {
			_ = l.call("MPI_Finalize", l.finalize)
			return err
		}
		if err := l.connect(); err != nil {
			return fmt.Errorf("mpi: %s: %w", named, err)
		}
		plural := "s"
		if t.ranks == 1 {
			plural = ""
		}
		t.name = fmt.Sprintf("%s, %d rank%s", l.product, t.ranks, plural)
		e.library = l
		return nil
	})
}

func (t *transport) Rank() int      { return t.rank }
func (t *transport) Ranks() int     { return t.ranks }
func (t *transport) String() string { return t.name }

// SetTimeout sets how long a peer may be silent. Package parallel calls it.
func (t *transport) SetTimeout(wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timeout = wait
}

// Exchange implements [parallel.Transport].
func (t *transport) Exchange(ctx context.Context, peer int, send, recv []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return errClosed
	case t.failed != nil:
		return t.failed
	case peer == t.rank:
		return fmt.Errorf("mpi: rank %d is to exchange with itself", peer)
	case peer < 0 || peer >= t.ranks:
		return fmt.Errorf("mpi: there is no rank %d among %d", peer, t.ranks)
	}
	t.work <- task{ctx: ctx, timeout: t.timeout, peer: peer, send: send, recv: recv}
	t.failed = <-t.done
	return t.failed
}

var errClosed = errors.New("mpi: the transport is closed")

// Abort ends the processes of all ranks, this one among them, after it has written the cause to the
// standard error. It does nothing after Close.
func (t *transport) Abort(cause error) {
	t.aborting.Do(func() {
		select {
		case <-t.ended:
			return
		default:
		}
		fmt.Fprintf(os.Stderr, "mpi: rank %d of %d ends the job: %v\n", t.rank, t.ranks, cause)
		close(t.abort)
	})
	select {
	case <-t.ended:
	case <-time.After(abortTime):
		os.Exit(1) // MPI_Abort has not ended the process: the launcher sees that it is gone
	}
}

// abortTime is how long MPI_Abort may take to end this process.
const abortTime = 5 * time.Second

// Close waits for all ranks to close, and ends MPI. After an error of Exchange it leaves MPI as it is,
// for a rank may be lost, and would be waited for: a launcher ends the job when this process ends.
func (t *transport) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.failed != nil {
		t.closed = true
		return nil
	}
	t.closed = true
	t.work <- task{end: true}
	return <-t.done
}
