package pool_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/internal/pool"
)

// rounds is a task whose unit is a number of dependent multiplications.
type rounds struct {
	each int
	sink []float64 // by worker, a cache line apart
}

func newRounds(each, workers int) *rounds { return &rounds{each, make([]float64, 16*workers)} }

func (r *rounds) Run(worker, lo, hi int) {
	x := 1.0
	for range (hi - lo) * r.each {
		x = x*0.999 + 0.5
	}
	r.sink[16*worker] = x
}

// calibrated has units that take the given time each on a core of its own.
func calibrated(each time.Duration, workers int) *rounds {
	const probe = 100_000
	r := newRounds(probe, workers)
	var times []time.Duration
	for range 21 {
		start := time.Now()
		r.Run(0, 0, 1)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return newRounds(max(1, int(probe*each/times[0])), workers)
}

// BenchmarkFork times Do over eight units against the same units in a plain loop, for some amounts
// of work a worker: one Do straight after another, and after a millisecond in which the caller did
// something else and the helpers parked. It reports the medians, and Do as a multiple of the plain
// loop, by median and by mean.
func BenchmarkFork(b *testing.B) {
	workers := runtime.GOMAXPROCS(0)
	const (
		units = 8 // a worker
		block = 20
	)
	for _, side := range []time.Duration{time.Microsecond, 5 * time.Microsecond, 20 * time.Microsecond, 100 * time.Microsecond} {
		for _, gap := range []time.Duration{0, time.Millisecond} {
			b.Run(fmt.Sprintf("%v/gap=%v", side, gap), func(b *testing.B) {
				p := pool.New(workers)
				defer p.Close()
				task := calibrated(side/units, workers)
				n := units * workers
				var forked, serial []time.Duration
				timed := func(times []time.Duration, run func()) []time.Duration {
					wait(gap)
					start := time.Now()
					run()
					return append(times, time.Since(start))
				}
				for b.Loop() { // blocks of each in turn, so that what else the machine does falls on both
					for range block {
						forked = timed(forked, func() { p.Do(n, 1, task) })
					}
					for range block {
						serial = timed(serial, func() { task.Run(0, 0, n) })
					}
				}
				slices.Sort(forked)
				slices.Sort(serial)
				f, s := float64(forked[len(forked)/2]), float64(serial[len(serial)/2])
				b.ReportMetric(f, "ns/fork")
				b.ReportMetric(s, "ns/serial")
				b.ReportMetric(f/s, "of-serial")
				b.ReportMetric(mean(forked)/mean(serial), "mean-of-serial")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkForkEmpty times a fork and join with as good as no work.
func BenchmarkForkEmpty(b *testing.B) {
	p := pool.New(runtime.GOMAXPROCS(0))
	defer p.Close()
	task := newRounds(1, p.Workers())
	b.ReportAllocs()
	for b.Loop() {
		p.Do(p.Workers(), 1, task)
	}
}

func mean(times []time.Duration) float64 {
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	return float64(sum) / float64(len(times))
}

// wait is busy for a while.
func wait(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}
