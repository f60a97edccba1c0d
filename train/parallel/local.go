package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// local is one rank of Local.
type local struct {
	rank    int
	job     *localJob
	timeout time.Duration
	timer   *time.Timer
	close   sync.Once
}

// localJob is what the ranks of Local share.
type localJob struct {
	size    int
	offers  []chan []byte   // from rank a to rank b at a·size + b: what is sent
	copied  []chan struct{} // likewise: what came has been copied
	ended   []chan struct{} // by rank: closed when the rank is
	aborted chan struct{}
	abort   sync.Once
	cause   error // of the abort, and the rank that it came from
}

// Local returns a transport for each of n ranks within one process, at least 1, each for a
// goroutine of its own: for tests and examples. It is nil for n < 1. An exchange copies the bytes
// once.
func Local(n int) []Transport {
	if n < 1 {
		return nil
	}
	job := &localJob{size: n, aborted: make(chan struct{})}
	job.offers, job.copied = make([]chan []byte, n*n), make([]chan struct{}, n*n)
	for i := range job.offers {
		job.offers[i], job.copied[i] = make(chan []byte, 1), make(chan struct{}, 1)
	}
	all := make([]Transport, n)
	for rank := range all {
		timer := time.NewTimer(time.Hour)
		timer.Stop()
		job.ended = append(job.ended, make(chan struct{}))
		all[rank] = &local{rank: rank, job: job, timeout: DefaultTimeout, timer: timer}
	}
	return all
}

func (l *local) Rank() int                     { return l.rank }
func (l *local) Ranks() int                    { return l.job.size }
func (l *local) String() string                { return fmt.Sprintf("one process, %d ranks", l.job.size) }
func (l *local) SetTimeout(wait time.Duration) { l.timeout = wait }

func (l *local) Abort(cause error) {
	if cause == nil {
		cause = errors.New("for no cause that was given")
	}
	l.job.abort.Do(func() {
		l.job.cause = fmt.Errorf("parallel: rank %d: %w", l.rank, cause)
		close(l.job.aborted)
	})
}

func (l *local) Close() error {
	l.close.Do(func() { close(l.job.ended[l.rank]) })
	return nil
}

// Exchange offers what it sends, copies what the peer offers, and waits until the peer has copied
// too. If it fails it takes its offer back, so that nobody reads the memory later.
func (l *local) Exchange(ctx context.Context, peer int, send, recv []byte) error {
	j := l.job
	if peer < 0 || peer >= j.size || peer == l.rank {
		return fmt.Errorf("parallel: rank %d of %d exchanges with rank %d", l.rank, j.size, peer)
	}
	to, from := l.rank*j.size+peer, peer*j.size+l.rank
	if err := l.stopped(ctx); err != nil {
		return err
	}
	j.offers[to] <- send // there is room: the offer before was copied
	theirs, ok := soon(j.offers[from])
	if !ok {
		l.timer.Reset(l.timeout)
		defer l.timer.Stop()
		select {
		case theirs = <-j.offers[from]:
		case <-ctx.Done():
			return l.withdraw(to, ctx.Err())
		case <-j.aborted:
			return l.withdraw(to, l.stopped(ctx))
		case <-j.ended[peer]:
			return l.withdraw(to, l.lost(peer))
		case <-j.ended[l.rank]:
			return l.withdraw(to, errClosed)
		case <-l.timer.C:
			return l.withdraw(to, fmt.Errorf("parallel: rank %d is silent for %v: %w", peer, l.timeout, ErrLost))
		}
	}
	n := copy(recv, theirs)
	j.copied[from] <- struct{}{}
	if len(theirs) != len(recv) {
		err := fmt.Errorf("parallel: rank %d sends %d bytes, rank %d expects %d", peer, len(theirs), l.rank, len(recv))
		clear(recv[n:])
		return l.withdraw(to, err)
	}
	if _, ok := soon(j.copied[to]); ok {
		return nil
	}
	l.timer.Reset(l.timeout)
	defer l.timer.Stop()
	select {
	case <-j.copied[to]:
		return nil
	case <-ctx.Done():
		return l.withdraw(to, ctx.Err())
	case <-j.aborted:
		return l.withdraw(to, l.stopped(ctx))
	case <-j.ended[peer]:
		select {
		case <-j.copied[to]: // just before
			return nil
		default:
			return l.withdraw(to, l.lost(peer))
		}
	case <-l.timer.C:
		return l.withdraw(to, fmt.Errorf("parallel: rank %d is silent for %v: %w", peer, l.timeout, ErrLost))
	}
}

// soon receives what comes within some tens of microseconds. To wait longer is to be put to sleep by the
// operating system, and to wake up takes longer than many an exchange.
func soon[T any](from <-chan T) (x T, ok bool) {
	for range 300 {
		select {
		case x = <-from:
			return x, true
		default:
			runtime.Gosched()
		}
	}
	return x, false
}

var errClosed = errors.New("parallel: an exchange after Close")

// stopped returns why no exchange may begin.
func (l *local) stopped(ctx context.Context) error {
	select {
	case <-l.job.aborted:
		return l.job.cause
	case <-l.job.ended[l.rank]:
		return errClosed
	default:
		return ctx.Err()
	}
}

// lost returns why a peer that has ended is missing: the job has, if it was told so before.
func (l *local) lost(peer int) error {
	select {
	case <-l.job.aborted:
		return l.job.cause
	default:
		return fmt.Errorf("parallel: rank %d has ended: %w", peer, ErrLost)
	}
}

// withdraw takes an offer back, or waits until the peer, which is about to, has copied it. It
// returns err.
func (l *local) withdraw(to int, err error) error {
	select {
	case <-l.job.offers[to]:
	case <-l.job.copied[to]:
	}
	return err
}
