package data

import (
	"context"
	"errors"
	"sync"

	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Prefetched is a source whose batches are read ahead on another goroutine. [Prefetch] makes one.
type Prefetched struct {
	source  Source
	batches int
	text    string   // of the source
	at      Position // of the caller's next batch; source is ahead of it
	part    *portion // of what is read ahead
	cuts    cuts
	slots   []*slot

	// While a reader runs, each slot is in one of these, with the reader, or held.
	free, ready chan *slot
	held        *slot // the caller has its batch
	cancel      context.CancelFunc
	ended       sync.WaitGroup
}

// slot holds a batch that was read ahead, or the error.
type slot struct {
	bufs  map[shape]Batch // by the number of rows
	batch Batch
	after Position // of the source
	err   error
}

// Prefetch reads up to n batches ahead, at least 1, on a goroutine that starts with the first Next
// and ends with Close. Until then nothing else may use the source. Batches and errors are those of
// the source, in its order and bit for bit. Position is that of the batch that Next returns next,
// whatever has been read ahead, and Seek discards what has been.
//
// It pays if making a batch takes time: reading files, adding noise, generating examples. A step
// then takes as long as the slower of the two instead of both together (BenchmarkPrefetch). The
// price is a copy of each batch and a change of goroutines, about half a microsecond for a small
// batch, which is more than gathering one from a set in memory costs.
func Prefetch(source Source, n int) *Prefetched {
	if source == nil {
		source = noSource("Prefetch")
	}
	p := &Prefetched{source: source, cuts: cuts{}, slots: make([]*slot, max(1, min(n, 1<<10))+1)}
	for i := range p.slots {
		p.slots[i] = &slot{bufs: map[shape]Batch{}}
	}
	p.batches, p.at, p.text = source.Batches(), source.Position(), Describe(source)
	return p
}

// Position returns the position of the next batch.
func (p *Prefetched) Position() Position { return p.at }

// Batches returns the number of batches in an epoch of the source.
func (p *Prefetched) Batches() int { return p.batches }

// Endless is for the function [Endless].
func (p *Prefetched) Endless() bool { return p != nil && Endless(p.source) }

// String returns the source's text form, for Describe.
func (p *Prefetched) String() string { return p.text }

// whole returns an error if p was not made by Prefetch.
func (p *Prefetched) whole() error {
	if p == nil || p.source == nil {
		return errors.New("prefetched: no source: data.Prefetch makes one")
	}
	return nil
}

// Next returns the next batch. It returns early if ctx ends, whatever the source does.
func (p *Prefetched) Next(ctx context.Context) (Batch, error) { return p.nextPortion(ctx, nil) }

func (p *Prefetched) nextPortion(ctx context.Context, part *portion) (Batch, error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	if err := p.whole(); err != nil {
		return Batch{}, err
	}
	if part != p.part {
		if err := p.stop(); err != nil {
			return Batch{}, err
		}
		p.part = part
	}
	if p.cancel == nil {
		p.start()
	}
	if p.held != nil {
		p.free <- p.held // never blocks: there is room for all slots
		p.held = nil
	}
	select {
	case <-ctx.Done():
		return Batch{}, ctx.Err()
	case s := <-p.ready:
		if s.err != nil {
			return Batch{}, errors.Join(s.err, p.stop()) // the next call tries again
		}
		p.held, p.at = s, s.after
		return s.batch, nil
	}
}

// Seek sets the position.
func (p *Prefetched) Seek(pos Position) error {
	if err := p.whole(); err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	if err := p.source.Seek(pos); err != nil {
		return err
	}
	p.at = pos
	return nil
}

// Close ends the goroutine and puts the source back at the position. After a further Next it must
// be called again.
func (p *Prefetched) Close() error { return p.stop() }

// start begins to read ahead.
func (p *Prefetched) start() {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.held = cancel, nil
	p.free, p.ready = make(chan *slot, len(p.slots)), make(chan *slot, len(p.slots))
	for _, s := range p.slots {
		p.free <- s
	}
	p.ended.Go(func() { p.read(ctx, p.free, p.ready) })
}

// stop ends the reader and puts the source back at the position.
func (p *Prefetched) stop() error {
	if p == nil || p.cancel == nil {
		return nil
	}
	p.cancel()
	p.ended.Wait()
	p.cancel = nil
	return p.source.Seek(p.at)
}

// read fills slots until ctx ends or the source fails.
func (p *Prefetched) read(ctx context.Context, free <-chan *slot, ready chan<- *slot) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-free:
			b, err := p.cuts.next(ctx, p.source, p.part)
			if s.err = err; err == nil {
				s.keep(b)
				s.after = p.source.Position()
			}
			ready <- s
			if err != nil {
				return
			}
		}
	}
}

// shape is the size of a batch.
type shape struct {
	rows  int
	sizes attr.Ints
}

// keep copies a batch into the slot's own memory.
func (s *slot) keep(b Batch) {
	own := s.bufs[shape{b.Rows, b.Sizes}]
	own.Copy(b)
	s.bufs[shape{b.Rows, b.Sizes}], s.batch = own, own
}
