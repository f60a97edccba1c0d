// Package pool shares the work of one goroutine with a few helpers. A fork and join costs well
// under a microsecond while the helpers spin, and some ten microseconds once they have parked.
//
// The caller of [Pool.Do] works too and claims whatever no helper has begun; it waits only for
// units that a helper is running. So where other programs occupy the cores, Do is about as fast as
// a plain loop.
package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Task is work that can be cut into units.
type Task interface {
	// Run does units lo to hi-1. Calls of one Do that run at the same time have different workers,
	// each at least 0 and below [Pool.Workers], so worker may index scratch memory. Which units
	// share a call, and which worker makes it, differs from time to time: results repeat only if
	// they depend on the units alone.
	Run(worker, lo, hi int)
}

// Pool is a caller and the goroutines that help it. They end with Close, or some time after the
// pool has become unreachable.
type Pool struct{ crew *crew }

// crew is the part of a pool that the helpers hold. It does not point back, so that an abandoned
// pool can be collected. The fields that waiting helpers read, those that change with each job and
// those that hardly change are on separate cache lines.
type crew struct {
	claims claims
	_      [120]byte

	// The job. Do writes it before it opens the claims; a worker with a claim reads it until it
	// subtracts the claim from pending.
	task     Task
	n, grain int
	pending  atomic.Int64 // grains that are not done
	waiting  atomic.Bool  // the caller is parked, or about to be, until pending is 0
	busy     atomic.Bool  // a Do is under way
	fault    atomic.Pointer[Panic]
	_        [72]byte

	helpers int
	closed  atomic.Bool
	runs    atomic.Int32  // calls of Begin without their End
	asleep  atomic.Int32  // helpers that are parked, or about to be, and not yet woken
	wake    chan struct{} // wakes one of them
	nudge   chan struct{} // see rouse
	done    chan struct{} // wakes the caller
	quit    chan struct{} // closed by Close
	once    sync.Once
	ended   sync.WaitGroup
}

// New makes a pool of the given number of workers, the caller among them: at least 1, and at most
// GOMAXPROCS as it is now. A pool of one worker has no goroutines.
func New(workers int) *Pool {
	helpers := max(0, min(workers, runtime.GOMAXPROCS(0))-1)
	c := &crew{helpers: helpers, wake: make(chan struct{}, helpers), nudge: make(chan struct{}), done: make(chan struct{}, 1),
		quit: make(chan struct{})}
	p := &Pool{c}
	if helpers == 0 {
		return p
	}
	for i := range helpers {
		c.ended.Go(func() { c.serve(i + 1) })
	}
	c.ended.Go(c.decoy)
	runtime.AddCleanup(p, (*crew).dismiss, c)
	return p
}

// Workers is the number of goroutines that can be in Run at a time: the caller and its helpers.
func (p *Pool) Workers() int { return 1 + p.crew.helpers }

// Do runs units 0 to n-1 of t, each once, and returns when all are done. Every call of Run begins
// at a multiple of grain and ends at one or at n. Two workers gain on one where each gets some ten
// microseconds of work.
//
// Do makes a single call, as worker 0, if all units are one grain, if the pool has one worker or is
// closed, and while another Do is under way on the pool, whether in another goroutine or because
// Run called Do.
//
// If Run panics, units that no worker has begun are dropped, and Do panics once the other workers
// are done: with the value itself if the panic was in the caller's own goroutine, else with a
// [*Panic]. The pool stays usable. Do allocates nothing.
func (p *Pool) Do(n, grain int, t Task) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	c := p.crew
	if n <= grain || c.helpers == 0 || c.closed.Load() || !c.busy.CompareAndSwap(false, true) {
		t.Run(0, 0, n)
		return
	}
	c.do(n, grain, t)
	runtime.KeepAlive(p)
}

func (c *crew) do(n, grain int, t Task) {
	grains := (n-1)/grain + 1
	if grains > maxGrains {
		grain *= (grains-1)/maxGrains + 1
		grains = (n-1)/grain + 1
	}
	c.task, c.n, c.grain = t, n, grain
	c.pending.Store(int64(grains))
	c.claims.open(grains)
	c.rouse(grains - 1)
	returned := false
	defer func() {
		c.join() // also after a panic: helpers may be at work on what belongs to the caller
		fault := c.fault.Swap(nil)
		c.task = nil // it may lead to the pool
		c.busy.Store(false)
		if returned && fault != nil {
			panic(fault)
		}
	}()
	c.work(0)
	returned = true
}

// work claims and runs grains of the job until none are left. The caller claims from the front and
// helpers from the back, so that two workers that go over the same memory in one Do after another
// find much of it in their own caches.
func (c *crew) work(worker int) {
	parts := 2 * (1 + c.helpers)
	lo, hi := c.claims.take(worker == 0, parts)
	if lo == hi {
		return
	}
	claimed, returned := 0, false
	defer func() {
		if !returned {
			claimed += c.claims.drop()
			if worker > 0 {
				c.fault.CompareAndSwap(nil, caught(recover()))
			}
		}
		if c.pending.Add(-int64(claimed)) == 0 && worker > 0 {
			c.rejoin()
		}
	}()
	for lo != hi { // until this worker's claims leave pending there is no later job to claim from
		claimed += hi - lo
		c.task.Run(worker, lo*c.grain, min(hi*c.grain, c.n))
		lo, hi = c.claims.take(worker == 0, parts)
	}
	returned = true
}

// Begin announces a sequence of calls of Do, which End ends: it wakes the helpers, and they spin
// longer between the calls.
func (p *Pool) Begin() {
	c := p.crew
	c.runs.Add(1)
	c.rouse(c.helpers)
	runtime.KeepAlive(p)
}

// End takes back a Begin.
func (p *Pool) End() { p.crew.runs.Add(-1) }

// Close ends the helpers and returns when they have ended. A Do under way is finished, and one that
// follows runs serially. Close may be called again, but not from inside Run.
func (p *Pool) Close() {
	p.crew.dismiss()
	p.crew.ended.Wait()
	runtime.KeepAlive(p)
}

func (c *crew) dismiss() {
	c.once.Do(func() {
		c.closed.Store(true)
		close(c.quit)
	})
}
