package train

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// meeting runs lanes whose program has sums over all lanes within, as that of a batch norm over the
// whole batch: all lanes of a rank at once, each in a goroutine of its own.
type meeting struct {
	engine *laneEngine
	sums   atomic.Pointer[parallel.Rendezvous]
	begin  []chan struct{} // by own lane
	done   sync.WaitGroup
	failed atomic.Int64 // the first own lane that failed, and with it the sums of all; −1 for none
}

func newMeeting(l *laneEngine) *meeting {
	m := &meeting{engine: l}
	m.sums.Store(l.ranks.NewRendezvous())
	m.failed.Store(-1)
	for i := range l.failed {
		begin := make(chan struct{})
		m.begin = append(m.begin, begin)
		go func() {
			for range begin {
				m.lane(i)
			}
		}()
	}
	return m
}

// run computes the terms of all own lanes, and returns the lane whose error is that of the step, or
// −1.
func (m *meeting) run() (failed int) {
	if m.failed.Swap(-1) >= 0 {
		m.sums.Store(m.engine.ranks.NewRendezvous()) // the last one has failed for good
	}
	m.done.Add(len(m.begin))
	for _, begin := range m.begin {
		begin <- struct{}{}
	}
	m.done.Wait()
	return int(m.failed.Load())
}

// lane computes the terms of the own lane i. If it fails, the others need not wait for it.
func (m *meeting) lane(i int) {
	defer m.done.Done()
	err := m.engine.lane(i, i)
	if m.engine.failed[i] = err; err != nil && m.failed.CompareAndSwap(-1, int64(i)) {
		m.sums.Load().Fail(err)
	}
}

func (m *meeting) close() {
	for _, begin := range m.begin {
		close(begin)
	}
}

// summer adds up values of a lane with those of the others.
type summer struct {
	*meeting
	lane int
}

// Sum implements tape.Summer.
func (s summer) Sum(ctx context.Context, site int, x tape.Array) error {
	if s.engine.seen != nil {
		return s.watched(ctx, site, x)
	}
	times := s.engine.times
	if times == nil {
		return s.sums.Load().Sum(ctx, s.lane, site, x.F32, x.F64)
	}
	begin := time.Now()
	err := s.sums.Load().Sum(ctx, s.lane, site, x.F32, x.F64)
	from, _ := s.engine.ranks.Own()
	times.within(s.lane-from, site, 4*len(x.F32)+8*len(x.F64), begin)
	return err
}

// watched is Sum in a run that is looked at.
func (s summer) watched(ctx context.Context, site int, x tape.Array) error {
	from, _ := s.engine.ranks.Own()
	if site < len(s.engine.sites) && s.engine.sites[site] {
		s.engine.seen[s.lane-from].brings(site, x)
	}
	err := s.sums.Load().Sum(ctx, s.lane, site, x.F32, x.F64)
	if err == nil && s.lane == from {
		total := slices.Clone(x.F64)
		for _, v := range x.F32 {
			total = append(total, float64(v))
		}
		s.engine.totals = append(s.engine.totals, total)
	}
	return err
}
