package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Rendezvous is where the own lanes of a rank meet that run at once and need sums over all lanes
// in between, such as the mean over a batch in a normalisation. Each lane calls [Rendezvous.Sum]
// from its own goroutine and waits for the others; all go on with the same sum.
//
// A program may have several sums: each is known by its site, a number. All lanes come to the same
// sites in the same order, with as many values.
type Rendezvous struct {
	ranks *Ranks

	mu      sync.Mutex
	err     error           // ends all later sums
	buckets map[int]*Bucket // by site
	lanes   []visit         // own
	site    int             // of the lanes that are here
	first   int             // the lane that came first
	here    int             // lanes
	put     int             // lanes whose term is in the bucket
}

// visit is a lane at a site.
type visit struct {
	waits bool
	f32   []float32
	f64   []float64
	done  chan error
}

// NewRendezvous returns a rendezvous of the own lanes.
func (r *Ranks) NewRendezvous() *Rendezvous {
	from, to := r.Own()
	v := &Rendezvous{ranks: r, buckets: map[int]*Bucket{}, lanes: make([]visit, to-from)}
	for i := range v.lanes {
		v.lanes[i].done = make(chan error, 1)
	}
	return v
}

// Sum replaces the values of an own lane by their sums over all lanes of all ranks. Every lane gets
// the same bits; the last to come calls [Bucket.Sum], which is what it costs. Sum returns early
// with an error if ctx ends or another lane fails, and then so do all later sums. Once all sites
// have been visited it allocates nothing.
func (v *Rendezvous) Sum(ctx context.Context, lane, site int, f32 []float32, f64 []float64) error {
	if v == nil || v.lanes == nil {
		return errors.New("parallel: a Rendezvous that Ranks.NewRendezvous did not make")
	}
	b, own, err := v.come(lane, site, f32, f64)
	if err != nil {
		return err
	}
	b.Put(lane, Part{Scale: 1, F32: f32, F64: f64})
	if v.last() {
		if err := b.Sum(ctx); err != nil {
			return v.fail(err)
		}
		return v.release(b, own)
	}
	select {
	case err := <-own.done:
		return err
	case <-ctx.Done():
		return v.fail(ctx.Err())
	}
}

// Fail makes the sum that lanes wait for and all later ones fail with an error, for a lane that
// cannot come. The first error stays.
func (v *Rendezvous) Fail(err error) {
	if v != nil && err != nil {
		v.fail(err)
	}
}

// fail returns the error that lanes get.
func (v *Rendezvous) fail(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err == nil {
		v.err = err
	}
	v.goOn(v.err)
	return v.err
}

// goOn ends the wait of all lanes.
func (v *Rendezvous) goOn(err error) {
	for i := range v.lanes {
		if own := &v.lanes[i]; own.waits {
			own.waits, own.f32, own.f64 = false, nil, nil
			own.done <- err
		}
	}
	v.here, v.put = 0, 0
}

// come notes that a lane is at a site.
func (v *Rendezvous) come(lane, site int, f32 []float32, f64 []float64) (*Bucket, *visit, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	from, to := v.ranks.Own()
	b := v.buckets[site]
	err := v.err
	switch {
	case err != nil:
	case lane < from || lane >= to:
		err = fmt.Errorf("parallel: lane %d comes to rank %d, which has lanes %d to %d", lane, v.ranks.Rank(), from, to-1)
	case v.lanes[lane-from].waits:
		err = fmt.Errorf("parallel: lane %d comes twice to one sum", lane)
	case v.here > 0 && site != v.site:
		err = fmt.Errorf("parallel: lane %d comes to sum %d while lane %d is at sum %d", lane, site, v.first, v.site)
	case b != nil && (len(f32) != b.n32 || len(f64) != b.n64):
		err = fmt.Errorf("parallel: lane %d brings %d values of float32 and %d of float64 to sum %d, which had %d and %d", lane, len(f32), len(f64), site, b.n32, b.n64)
	}
	if err != nil {
		if v.err == nil {
			v.err = err
			v.goOn(err)
		}
		return nil, nil, v.err
	}
	if b == nil {
		b = v.ranks.NewBucket(len(f32), len(f64))
		v.buckets[site] = b
	}
	if v.here == 0 {
		v.site, v.first = site, lane
	}
	v.here++
	own := &v.lanes[lane-from]
	own.waits, own.f32, own.f64 = true, f32, f64
	return b, own, nil
}

// last notes that a lane's term is in the bucket, and reports whether all are.
func (v *Rendezvous) last() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.put++
	return v.put == len(v.lanes)
}

// release gives all lanes the sums, and returns what the last lane returns.
func (v *Rendezvous) release(b *Bucket, own *visit) error {
	v.mu.Lock()
	if v.err == nil {
		x, y := b.Total()
		for i := range v.lanes {
			copy(v.lanes[i].f32, x)
			copy(v.lanes[i].f64, y)
		}
		v.goOn(nil)
	}
	v.mu.Unlock()
	return <-own.done
}
