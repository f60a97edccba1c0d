package pool

import (
	"runtime"
	"time"
)

// How long a goroutine spins before it parks. Waking a parked helper costs the caller some 15 µs,
// and the helper starts another 35 µs later (on a virtual machine with an idle core). Spinning much
// longer than that wastes a core, unless more work is known to come.
const (
	spinTime    = 50 * time.Microsecond
	spinTimeRun = time.Millisecond
)

// spin counts the turns of a loop that waits for another core.
type spin struct {
	turns int
	inRun bool
	start time.Time
}

// again reports whether to look once more. Now and then it yields the core to other threads, as the
// awaited one may be among them.
func (s *spin) again(c *crew) bool {
	if s.turns++; s.turns&2047 != 0 {
		return true
	}
	yield()
	return s.within(time.Now(), c.runs.Load() > 0)
}

// within reports whether there is time left to spin.
func (s *spin) within(now time.Time, inRun bool) bool {
	if s.start.IsZero() || s.inRun && !inRun { // the next run may follow at once
		s.start = now
	}
	s.inRun = inRun
	if inRun {
		return now.Sub(s.start) < spinTimeRun
	}
	return now.Sub(s.start) < spinTime
}

// serve is the loop of a helper, until Close.
func (c *crew) serve(worker int) {
	for !c.closed.Load() {
		c.work(worker)
		for s := (spin{}); !c.claims.left() && !c.closed.Load(); {
			if !s.again(c) {
				c.park()
				break
			}
		}
	}
}

// park waits for rouse, or for Close.
func (c *crew) park() {
	c.asleep.Add(1)
	for c.claims.left() { // opened since the helper looked, and rouse may have seen nobody asleep
		n := c.asleep.Load()
		if n == 0 {
			break // rouse has counted on this helper
		}
		if c.asleep.CompareAndSwap(n, n-1) {
			return
		}
	}
	select {
	case <-c.wake:
	case <-c.quit:
	}
}

// rouse wakes parked helpers, at most the given number.
//
// The runtime puts a goroutine that a send wakes next in line on the sender's own thread, and the
// sender goes on computing: an idle thread steals it only after a sleep, 75 to 150 µs later as
// measured. Waking a second goroutine pushes the first into the open queue, where the idle thread
// that the first send started finds it at once: 40 µs later, as fast as by a pipe, an eventfd, a
// timer or a futex.
func (c *crew) rouse(most int) {
	for {
		n := c.asleep.Load()
		k := min(n, int32(most))
		if k == 0 {
			return
		}
		if !c.asleep.CompareAndSwap(n, n-k) {
			continue
		}
		for range k {
			c.wake <- struct{}{}
		}
		select {
		case c.nudge <- struct{}{}:
		default:
		}
		return
	}
}

// decoy is the goroutine that rouse wakes in order to wake another.
func (c *crew) decoy() {
	for {
		select {
		case <-c.nudge:
		case <-c.quit:
			return
		}
	}
}

// join waits until the job is done.
func (c *crew) join() {
	for s := (spin{}); c.pending.Load() != 0 && s.again(c); {
	}
	for c.pending.Load() != 0 {
		c.waiting.Store(true)
		if c.pending.Load() != 0 || !c.waiting.CompareAndSwap(true, false) {
			<-c.done // perhaps from a helper that was late with the job before: hence the loop
		}
	}
}

// rejoin wakes the caller if it has parked. The helper that finishes the job calls it.
func (c *crew) rejoin() {
	if c.waiting.Load() && c.waiting.CompareAndSwap(true, false) {
		c.done <- struct{}{}
		// The caller is next in line on this thread, where an idle thread would be slow to find it.
		runtime.Gosched()
	}
}
