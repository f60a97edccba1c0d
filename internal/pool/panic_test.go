package pool_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/internal/pool"
)

// recovered returns the value that a call panics with.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// inHelper is a task that fails in a helper: the caller is in Run when it does, so that a helper
// must be.
func inHelper(fail func()) task {
	var both sync.WaitGroup
	both.Add(2)
	return func(worker, _, _ int) {
		both.Done()
		both.Wait()
		if worker > 0 {
			fail()
		}
	}
}

func TestPanicInHelper(t *testing.T) {
	p := newPool(t, 2)
	for range 20 {
		value := recovered(func() { p.Do(2, 1, inHelper(func() { failure(io.ErrUnexpectedEOF) })) })
		fault, ok := value.(*pool.Panic)
		if !ok {
			t.Fatalf("Do panicked with %v", value)
		}
		if fault.Value != io.ErrUnexpectedEOF || !errors.Is(fault, io.ErrUnexpectedEOF) {
			t.Errorf("the value is %v", fault.Value)
		}
		if text := fault.Error(); !strings.Contains(text, "unexpected EOF") || !strings.Contains(text, "pool_test.failure") {
			t.Errorf("no value or stack in %q", text)
		}
		newChecked(t, p).do(p, 100, 1)
	}
	fault := recovered(func() { p.Do(2, 1, inHelper(func() { panic("text") })) }).(*pool.Panic)
	if fault.Value != "text" || fault.Unwrap() != nil {
		t.Errorf("%v wraps %v", fault.Value, fault.Unwrap())
	}
}

//go:noinline
func failure(err error) { panic(err) }

// TestPanicInCaller holds that Do does not let go of a task that a helper is at work on.
func TestPanicInCaller(t *testing.T) {
	p := newPool(t, 2)
	for range 20 {
		var both sync.WaitGroup
		both.Add(2)
		var helped, late atomic.Bool
		value := recovered(func() {
			p.Do(100, 50, task(func(worker, _, _ int) {
				both.Done()
				both.Wait()
				if worker == 0 {
					panic("caller")
				}
				time.Sleep(time.Millisecond)
				late.Store(helped.Swap(true))
			}))
		})
		if value != "caller" {
			t.Fatalf("Do panicked with %v", value)
		}
		if !helped.Load() || late.Load() {
			t.Error("Do panicked while a helper was at work")
		}
		newChecked(t, p).do(p, 100, 1)
	}
}

// TestPanicDropsTheRest holds that nothing is begun after a panic that nobody else would wait for.
func TestPanicDropsTheRest(t *testing.T) {
	for _, worker := range []int{0, 1} {
		p := newPool(t, 2)
		var both sync.WaitGroup
		both.Add(2)
		var begun atomic.Int32
		value := recovered(func() {
			p.Do(1000, 1, task(func(w, lo, hi int) {
				if begun.Add(1) > 2 {
					return
				}
				both.Done()
				both.Wait()
				if w == worker {
					panic(w)
				}
				time.Sleep(20 * time.Millisecond) // the other drops the rest meanwhile
			}))
		})
		if value == nil || begun.Load() != 2 {
			t.Errorf("worker %d panicked: Do with %v after %d calls", worker, value, begun.Load())
		}
	}
}

// TestGoexitInHelper takes the pool's only helper: Do says so, and the caller does the work alone
// from then on.
func TestGoexitInHelper(t *testing.T) {
	p := newPool(t, 2)
	fault, ok := recovered(func() { p.Do(2, 1, inHelper(runtime.Goexit)) }).(*pool.Panic)
	if !ok || fault.Value != nil || !strings.Contains(fault.Error(), "Goexit") {
		t.Fatalf("Do panicked with %v", fault)
	}
	c := newChecked(t, p)
	for range 100 {
		c.do(p, 100, 1)
	}
}
