package parallel

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/internal/linkfault"
)

const (
	faultTimeout = 2 * time.Second
	longTimeout  = 30 * time.Second
)

// open counts goroutines and files of this process.
func resources() (goroutines, files int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return runtime.NumGoroutine(), 0 // not Linux
	}
	return runtime.NumGoroutine(), len(entries)
}

// unleaked runs a function and looks for goroutines and files that it leaves behind.
func unleaked(t *testing.T, do func()) {
	t.Helper()
	goroutines, files := resources()
	do()
	var g, f int
	for range 100 {
		if g, f = resources(); g <= goroutines && f <= files {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines and %d files before, %d and %d after:\n%s", goroutines, files, g, f, stacks[:runtime.Stack(stacks, true)])
}

// TestSocketsFaults: whatever a link does, no rank receives wrong bytes, and none waits for longer
// than it says.
func TestSocketsFaults(t *testing.T) {
	part := 3 // one of so many faults
	switch {
	case os.Getenv("TAPESTRY_LONG") != "":
		part = 1
	case testing.Short():
		part = 7
	}
	var faults []linkfault.Fault
	// The first bytes of a connection are the greeting; the exchanges below have some 1.3 MB in all.
	moments := []int{3, 9, 11, 20, 45, 70, 400, 600, 20000, 400000, 1000000}
	for i, kind := range linkfault.Kinds() {
		for j, after := range moments {
			for connection := range 2 { // that of messages, and that of exchanges
				for _, back := range []bool{false, true} {
					if connection == 0 && after > 70 { // there are no more messages
						continue
					}
					if (i+j)%part > 0 {
						continue
					}
					f := linkfault.Fault{Kind: kind, Connection: connection, Back: back, After: after, Wait: 300 * time.Millisecond}
					faults = append(faults, f)
				}
			}
		}
	}
	unleaked(t, func() {
		var wait sync.WaitGroup
		room := make(chan struct{}, 16)
		for i, f := range faults {
			wait.Go(func() {
				room <- struct{}{}
				timeout := faultTimeout
				for !testFault(t, f, i%2, timeout) { // a busy machine may not come so far in time
					timeout *= 3
				}
				<-room
			})
		}
		wait.Wait()
	})
}

// between is a proxy that is started when its target is known.
type between struct {
	*linkfault.Proxy
}

// to returns the address to dial instead of the target.
func (b *between) to(t *testing.T, f linkfault.Fault, target string) string {
	if b.Proxy == nil {
		p, err := linkfault.New(target, f)
		if err != nil {
			t.Error(err)
			return target
		}
		b.Proxy = p
	}
	return b.Address()
}

func (b *between) close() {
	if b.Proxy != nil {
		b.Close()
	}
}

// testFault puts a proxy between a rank that is dialled, 0 or 1, and the next, of three. It returns false if the fault
// did not happen within a timeout that may have been too short.
func testFault(t *testing.T, f linkfault.Fault, dialled int, timeout time.Duration) bool {
	const ranks = 3
	address := freeAddress(t, "tcp")
	begin, later := timeout, timeout
	if f.Connection == 1 && f.After >= 400 {
		begin = longTimeout // there is nothing wrong before
	}
	switch f.Kind {
	case linkfault.Cut, linkfault.Reset, linkfault.Garble, linkfault.Repeat: // are seen at once
		later = longTimeout
	case linkfault.Slow:
		begin, later = longTimeout, longTimeout
	case linkfault.Delay: // for longer than the ranks wait
		f.Wait = timeout + 2*grace + time.Second
	}
	p := new(between)
	defer p.close()
	start := time.Now()
	all, errs := make([]Transport, ranks), make([]error, ranks)
	var dialling sync.WaitGroup
	for rank := range ranks {
		dialling.Go(func() {
			at := address
			o := []DialOption{Timeout(begin)}
			switch {
			case rank == 1 && dialled == 0:
				at = "tcp://" + p.to(t, f, strings.TrimPrefix(address, "tcp://"))
			case rank == 2 && dialled == 1:
				o = append(o, func(d *dialing) {
					d.route = func(peer int, at string) string {
						if peer == 1 {
							return p.to(t, f, at)
						}
						return at
					}
				})
			}
			all[rank], errs[rank] = Dial(context.Background(), at, rank, ranks, o...)
		})
	}
	dialling.Wait()
	connected := true
	var wait sync.WaitGroup
	for rank := range ranks {
		if errs[rank] != nil {
			connected = false
			continue
		}
		wait.Go(func() {
			all[rank].(*sockets).SetTimeout(later)
			errs[rank] = exchanges(context.Background(), all[rank], lengths)
			if errs[rank] != nil {
				all[rank].Close()
			}
		})
	}
	wait.Wait()
	for _, t := range all {
		if t != nil {
			t.Close()
		}
	}
	took := time.Since(start)
	p.close()
	failed := 0
	for rank, err := range errs {
		if err == nil {
			continue
		}
		failed++
		if strings.Contains(err.Error(), "wrong bytes") || !strings.Contains(err.Error(), "rank") {
			t.Errorf("%v: rank %d: %v", f, rank, err)
		}
	}
	if p.Proxy == nil || !p.Hit() {
		if timeout < longTimeout {
			return false
		}
		t.Errorf("%v: the fault did not happen: %v", f, errs)
		return true
	}
	// A connection that fails in its first bytes is dialled again.
	switch {
	case f.Kind == linkfault.Slow && failed > 0,
		failed > 0 && failed < ranks,
		f.Connection == 1 && f.After >= 400 && f.Kind != linkfault.Slow && (failed == 0 || !connected):
		t.Errorf("%v: of %d ranks %d failed after %v: %v", f, ranks, failed, took, errs)
	}
	if limit := 2*begin + 3*grace + greetingTime; took > limit+10*time.Second {
		t.Errorf("%v: took %v", f, took)
	}
	return true
}

// TestSocketsBlame: the rank that keeps the others waiting is the one that all of them name.
func TestSocketsBlame(t *testing.T) {
	unleaked(t, func() {
		for name, test := range map[string]struct {
			do   func(all []Transport) []error
			want string
		}{
			"at work": {func(all []Transport) []error {
				return together(all, func(t Transport) error {
					if t.Rank() == 3 {
						<-all[3].(*sockets).failed
						return all[3].(*sockets).cause
					}
					return t.Exchange(context.Background(), t.Rank()+1, nil, make([]byte, 10))
				})
			}, "parallel: rank 3 is lost: rank 2 has waited for it for 300ms, and it is at work still"},
			"closed": {func(all []Transport) []error {
				return together(all, func(t Transport) error {
					if t.Rank() == 3 {
						t.Close()
						<-all[0].(*sockets).failed
						return all[0].(*sockets).cause
					}
					return t.Exchange(context.Background(), t.Rank()+1, nil, make([]byte, 10))
				})
			}, "parallel: rank 3 is lost: it has closed its transport, and rank 2 waits for it"},
		} {
			timeout := 20 * time.Second
			if name == "at work" {
				timeout = 300 * time.Millisecond
			}
			all, errs := dialAll(freeAddress(t, "tcp"), 4, func(int) []DialOption { return []DialOption{Timeout(20 * time.Second)} })
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for _, t := range all {
				t.(*sockets).SetTimeout(timeout)
			}
			start := time.Now()
			for rank, err := range test.do(all) {
				if err == nil || !strings.HasPrefix(err.Error(), test.want) || !errors.Is(err, ErrLost) {
					t.Errorf("%s: rank %d: %v", name, rank, err)
				}
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%s: %v", name, took)
			}
			for _, t := range all {
				t.Close()
			}
		}
	})
}

// TestSocketsContext: the end of a context ends the job on all ranks, at once.
func TestSocketsContext(t *testing.T) {
	unleaked(t, func() {
		all, errs := dialAll(freeAddress(t, "unix"), 3, nil)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		why := errors.New("interrupted")
		errs = together(all, func(t Transport) error {
			ctx := context.Background()
			if t.Rank() == 1 {
				c, cancel := context.WithCancelCause(ctx)
				time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
				ctx = c
			}
			return t.Exchange(ctx, (t.Rank()+1)%3, make([]byte, 1<<24), make([]byte, 10))
		})
		for rank, err := range errs {
			if err == nil || err.Error() != "parallel: rank 1: interrupted" {
				t.Errorf("rank %d: %v", rank, err)
			}
			if rank == 1 && !errors.Is(err, why) {
				t.Error(err)
			}
			all[rank].Close()
		}
		// A context that ends between exchanges ends nothing before the next.
		all, errs = dialAll(freeAddress(t, "unix"), 2, nil)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			ctx, cancel := context.WithCancel(context.Background())
			for _, err := range together(all, func(t Transport) error { return t.Exchange(ctx, 1-t.Rank(), []byte{1}, make([]byte, 1)) }) {
				if err != nil {
					t.Error(err)
				}
			}
			cancel()
		}
		for _, t := range all {
			t.Close()
		}
	})
}
