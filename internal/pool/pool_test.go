package pool_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/internal/pool"
)

// task is a function as a Task.
type task func(worker, lo, hi int)

func (t task) Run(worker, lo, hi int) { t(worker, lo, hi) }

// procs sets GOMAXPROCS for a test.
func procs(t *testing.T, n int) {
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// newPool is a pool for a test on as many processors.
func newPool(t *testing.T, workers int) *pool.Pool {
	procs(t, max(workers, runtime.GOMAXPROCS(0)))
	p := pool.New(workers)
	t.Cleanup(p.Close)
	return p
}

// goroutines waits until there are no more than n goroutines.
func goroutines(t *testing.T, n int) {
	t.Helper()
	for start := time.Now(); runtime.NumGoroutine() > n; time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d goroutines, want %d", runtime.NumGoroutine(), n)
		}
	}
}

// checked is a task that counts how often each unit is run, without synchronisation of its own, and
// watches over the promises to Run.
type checked struct {
	t      *testing.T
	counts []int
	grain  int
	inside []atomic.Bool // by worker
}

func (c *checked) Run(worker, lo, hi int) {
	if !c.inside[worker].CompareAndSwap(false, true) {
		c.t.Errorf("worker %d is in two calls at once", worker)
	}
	if lo >= hi || lo%c.grain != 0 || hi%c.grain != 0 && hi != len(c.counts) {
		c.t.Errorf("units %d to %d with grain %d", lo, hi, c.grain)
	}
	for i := lo; i < hi; i++ {
		c.counts[i]++
	}
	c.inside[worker].Store(false)
}

// do runs n units and checks them.
func (c *checked) do(p *pool.Pool, n, grain int) {
	c.counts, c.grain = slices.Grow(c.counts[:0], max(n, 0))[:max(n, 0)], max(grain, 1)
	clear(c.counts)
	p.Do(n, grain, c)
	if i := slices.IndexFunc(c.counts, func(k int) bool { return k != 1 }); i >= 0 {
		c.t.Fatalf("%d units, grain %d: unit %d was run %d times", n, grain, i, c.counts[i])
	}
}

func newChecked(t *testing.T, p *pool.Pool) *checked {
	return &checked{t: t, inside: make([]atomic.Bool, p.Workers())}
}

func TestEveryUnitOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		p := newPool(t, workers)
		if p.Workers() != workers {
			t.Fatalf("%d workers, want %d", p.Workers(), workers)
		}
		c := newChecked(t, p)
		r := rand.New(rand.NewPCG(1, uint64(workers)))
		for i := range 3000 {
			if i%100 == 0 {
				time.Sleep(time.Millisecond) // helpers park
			}
			c.do(p, r.IntN(200)-1, r.IntN(12)-1)
		}
		c.do(p, 300_000, 1)
	}
}

func TestMoreUnitsThanGrainsAllowed(t *testing.T) {
	if ^uint(0)>>32 == 0 {
		t.Skip("int has 32 bits")
	}
	p := newPool(t, 2)
	shift := 40
	n := 1<<shift + 5
	var done atomic.Int64
	p.Do(n, 3, task(func(_, lo, hi int) {
		if lo%3 != 0 || hi%3 != 0 && hi != n {
			t.Errorf("units %d to %d with grain 3", lo, hi)
		}
		done.Add(int64(hi - lo))
	}))
	if done.Load() != int64(n) {
		t.Errorf("%d units were run, want %d", done.Load(), n)
	}
}

func TestHelpersHelp(t *testing.T) {
	p := newPool(t, 4)
	var all sync.WaitGroup
	all.Add(4)
	p.Do(4, 1, task(func(_, _, _ int) {
		all.Done()
		all.Wait() // until four goroutines are in Run
	}))
}

func TestWorkersAreCapped(t *testing.T) {
	procs(t, 2)
	before := runtime.NumGoroutine()
	for _, workers := range []int{-1, 0, 1} {
		if p := pool.New(workers); p.Workers() != 1 {
			t.Errorf("New(%d) has %d workers", workers, p.Workers())
		}
	}
	goroutines(t, before)
	p := pool.New(100)
	defer p.Close()
	if p.Workers() != 2 {
		t.Errorf("%d workers with two processors", p.Workers())
	}
}

// TestBusyCores runs more goroutines than there are processors, and helpers that cannot start when
// they are called.
func TestBusyCores(t *testing.T) {
	procs(t, 2)
	p := pool.New(2)
	defer p.Close()
	var stop atomic.Bool
	var hogs sync.WaitGroup
	for range 4 {
		hogs.Go(func() {
			for !stop.Load() {
			}
		})
	}
	c := newChecked(t, p)
	for start := time.Now(); time.Since(start) < 150*time.Millisecond; { // every goroutine has its turn
		c.do(p, 100, 1)
	}
	stop.Store(true)
	hogs.Wait()
}

// TestCallerIsWoken makes the caller wait for helpers long enough to park.
func TestCallerIsWoken(t *testing.T) {
	p := newPool(t, 3)
	r := rand.New(rand.NewPCG(2, 0))
	for range 300 {
		pause := time.Duration(r.IntN(300)) * time.Microsecond
		var done, helped atomic.Int32
		p.Do(6, 1, task(func(worker, lo, hi int) {
			if worker > 0 {
				helped.Add(1)
				time.Sleep(pause)
			}
			for helped.Load() == 0 {
				runtime.Gosched()
			}
			done.Add(int32(hi - lo))
		}))
		if done.Load() != 6 {
			t.Fatalf("Do returned when %d of 6 units were done", done.Load())
		}
	}
}

func TestNestedDo(t *testing.T) {
	p := newPool(t, 3)
	var done atomic.Int32
	p.Do(12, 1, task(func(_, lo, hi int) {
		for range hi - lo {
			p.Do(10, 1, task(func(worker, lo, hi int) {
				if worker != 0 || lo != 0 || hi != 10 {
					t.Errorf("nested: worker %d, units %d to %d", worker, lo, hi)
				}
				done.Add(int32(hi - lo))
			}))
		}
	}))
	if done.Load() != 120 {
		t.Errorf("%d units, want 120", done.Load())
	}
}

func TestTwoCallers(t *testing.T) {
	p := newPool(t, 2)
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() {
			c := newChecked(t, p)
			for range 2000 {
				c.do(p, 50, 1)
			}
		})
	}
	callers.Wait()
}

func TestClose(t *testing.T) {
	procs(t, 4)
	before := runtime.NumGoroutine()
	p := pool.New(4)
	c := newChecked(t, p)
	c.do(p, 100, 1)
	p.Close()
	p.Close()
	goroutines(t, before)
	p.Begin()
	p.Do(100, 1, task(func(worker, lo, hi int) {
		if worker != 0 || lo != 0 || hi != 100 {
			t.Errorf("after Close: worker %d, units %d to %d", worker, lo, hi)
		}
	}))
	p.End()

	parked := pool.New(4)
	time.Sleep(5 * time.Millisecond)
	parked.Close()
	goroutines(t, before)
}

func TestCloseWaitsForHelpers(t *testing.T) {
	p := newPool(t, 2)
	var both sync.WaitGroup
	both.Add(2)
	inside, leave := make(chan struct{}), make(chan struct{})
	done, closed := make(chan struct{}), make(chan struct{})
	go func() {
		p.Do(2, 1, task(func(worker, _, _ int) {
			both.Done()
			both.Wait()
			if worker > 0 {
				close(inside)
				<-leave
			}
		}))
		close(done)
	}()
	<-inside
	go func() {
		p.Close()
		close(closed)
	}()
	select {
	case <-closed:
		t.Error("Close returns while a helper is in Run")
	case <-done:
		t.Error("Do returns while a helper is in Run")
	case <-time.After(20 * time.Millisecond):
	}
	close(leave)
	<-closed
	<-done
}

func TestCloseDuringDo(t *testing.T) {
	procs(t, 4)
	for range 50 {
		p := pool.New(4)
		c := newChecked(t, p)
		var closed atomic.Bool
		go func() {
			p.Close()
			closed.Store(true)
		}()
		for !closed.Load() {
			c.do(p, 64, 1)
		}
	}
}

// TestAbandoned holds that a pool that nobody refers to takes its goroutines along, also when its
// last task referred to it.
func TestAbandoned(t *testing.T) {
	procs(t, 2)
	before := runtime.NumGoroutine()
	func() {
		p := pool.New(2)
		p.Do(8, 1, task(func(_, _, _ int) { _ = p.Workers() }))
	}()
	for start := time.Now(); runtime.NumGoroutine() > before; runtime.GC() {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d goroutines, want %d", runtime.NumGoroutine(), before)
		}
	}
}

func TestDoAllocatesNothing(t *testing.T) {
	p := newPool(t, 2)
	c := newRounds(10, 2)
	const times = 2000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range times {
		if i%20 == 0 {
			wait(200 * time.Microsecond) // helpers park
		}
		p.Begin()
		p.Do(16, 1, c)
		p.End()
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > times/50 { // the runtime itself makes a few
		t.Errorf("%d allocations in %d calls", n, times)
	}
}
