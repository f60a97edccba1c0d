package data

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Change changes the elements of a batch. It takes its random draws, if any, from rng only. One that
// changes each row by itself may say so, for [Share]: see [Batch.Rowwise].
type Change func(rng *rand.Rand, b Batch) error

// Map returns a source that applies changes to each batch of another, in their order. The state of
// their generator depends on seed and position only, so that a training that is resumed makes the
// same draws. An error of a change is returned with the position.
//
//	fit := data.Map(data.Shuffled(set, 64, 1), 1, scale.Change(), data.Noise("x", 0.1))
func Map(source Source, seed uint64, changes ...Change) Source {
	switch s := source.(type) {
	case nil:
		return noSource("Map")
	case *shared: // what is drawn for a row does not depend on the part
		return Share(Map(s.source, seed, changes...), s.part.part)
	}
	return &mapped{Source: source, seed: seed, changes: changes, draws: newDraws(), cuts: cuts{}}
}

type mapped struct {
	Source
	seed    uint64
	changes []Change
	draws   *draws
	whole   bool // a change is not rowwise, so that parts are cut from whole batches
	rowwise bool // of the last change
	cuts    cuts
}

// String is for Describe.
func (m *mapped) String() string {
	source := Describe(m.Source)
	if source == "" {
		return ""
	}
	n := 0
	for _, change := range m.changes {
		if change != nil {
			n++
		}
	}
	return fmt.Sprintf("map(%s, %s, seed %d)", source, plural.Count(n, "change"), m.seed)
}

func (m *mapped) Endless() bool { return Endless(m.Source) }

func (m *mapped) Next(ctx context.Context) (Batch, error) { return m.nextPortion(ctx, nil) }

func (m *mapped) nextPortion(ctx context.Context, p *portion) (Batch, error) {
	at := m.Position()
	if p != nil && !m.whole {
		b, err := m.cuts.next(ctx, m.Source, p)
		if err != nil {
			return Batch{}, err
		}
		known, err := m.change(at, b, true)
		if known {
			return m.unless(err, b, at)
		}
		m.whole = true
		if err := m.Seek(at); err != nil {
			return Batch{}, err
		}
	}
	b, err := m.Source.Next(ctx)
	if err != nil {
		return Batch{}, err
	}
	if _, err = m.change(at, b, false); err == nil && p != nil {
		b, err = m.cuts.cut(b, p)
	}
	return m.unless(err, b, at)
}

// change applies the changes to a batch. Of one that is a part it reports whether all changes are
// rowwise, and ends at the first that is not.
func (m *mapped) change(at Position, b Batch, part bool) (rowwise bool, err error) {
	if part && b.Rows == 0 {
		return true, nil
	}
	rng := m.draws.at(mix(m.seed)+uint64(at.Epoch), uint64(at.Batch))
	for _, change := range m.changes {
		if change == nil {
			continue
		}
		b.rowwise, m.rowwise = &m.rowwise, !part
		if err = change(rng, b); !m.rowwise {
			return false, nil
		}
		if err != nil {
			return true, fmt.Errorf("data: %v: %w", at, err)
		}
	}
	return true, nil
}

// unless returns the batch unless there is an error, with which the source goes back.
func (m *mapped) unless(err error, b Batch, at Position) (Batch, error) {
	if err != nil {
		return Batch{}, errors.Join(err, m.Seek(at))
	}
	return b, nil
}

// noSource stands in for a nil source; it holds the name of the function that got it.
type noSource string

func (n noSource) err() error                          { return fmt.Errorf("data: %s has no source", string(n)) }
func (n noSource) Next(context.Context) (Batch, error) { return Batch{}, n.err() }
func (noSource) Seek(Position) error                   { return nil }
func (noSource) Position() Position                    { return Position{} }
func (noSource) Batches() int                          { return 0 }
