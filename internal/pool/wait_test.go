package pool

import (
	"runtime"
	"testing"
	"time"
)

func TestSpinTime(t *testing.T) {
	const us = time.Microsecond
	type look struct {
		at    time.Duration
		inRun bool
		want  bool
	}
	for name, looks := range map[string][]look{
		"outside a run":   {{0, false, true}, {49 * us, false, true}, {50 * us, false, false}},
		"in a run":        {{0, true, true}, {999 * us, true, true}, {1000 * us, true, false}},
		"a run begins":    {{0, false, true}, {40 * us, true, true}, {999 * us, true, true}, {1000 * us, true, false}},
		"after a run":     {{0, true, true}, {900 * us, false, true}, {949 * us, false, true}, {950 * us, false, false}},
		"from run to run": {{0, true, true}, {900 * us, false, true}, {901 * us, true, true}, {1899 * us, true, true}},
	} {
		s, zero := spin{}, time.Now()
		for _, l := range looks {
			if got := s.within(zero.Add(l.at), l.inRun); got != l.want {
				t.Errorf("%s: after %v: %v, want %v", name, l.at, got, l.want)
			}
		}
	}
}

// TestBeginWakes holds that helpers park when there is nothing to do, and that Begin and Do wake
// them.
func TestBeginWakes(t *testing.T) {
	old := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(old)
	p := New(4)
	defer p.Close()
	for name, wake := range map[string]func(){
		"Begin": func() { p.Begin(); p.End() },
		"Do":    func() { p.Do(4, 1, nothing{}) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				for start := time.Now(); p.crew.asleep.Load() != 3; runtime.Gosched() {
					if time.Since(start) > 10*time.Second {
						t.Fatalf("%d of 3 helpers are parked", p.crew.asleep.Load())
					}
				}
				wake()
				if p.crew.asleep.Load() == 0 {
					return
				}
			}
			t.Error("helpers stay parked")
		})
	}
}

// TestJoin holds that a caller that waits long parks, sleeps through a wake-up that was meant for
// an earlier job, and wakes up.
func TestJoin(t *testing.T) {
	c := &crew{done: make(chan struct{}, 1)}
	c.pending.Store(1)
	joined := make(chan struct{})
	go func() {
		c.join()
		close(joined)
	}()
	parked := func() {
		t.Helper()
		for start := time.Now(); !c.waiting.Load(); runtime.Gosched() {
			if time.Since(start) > 10*time.Second {
				t.Fatal("the caller does not park")
			}
		}
	}
	parked()
	for start := time.Now(); time.Since(start) < 5*time.Millisecond; {
		if !c.waiting.Load() {
			t.Fatal("the caller spins on")
		}
	}
	c.rejoin()
	parked()
	select {
	case <-joined:
		t.Fatal("the caller goes on before the job is done")
	default:
	}
	c.pending.Store(0)
	c.rejoin()
	<-joined
}

type nothing struct{}

func (nothing) Run(_, _, _ int) {}
