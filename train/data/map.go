package data

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Change changes the elements of a batch. It takes its random draws, if any, from rng only.
type Change func(rng *rand.Rand, b Batch) error

// Map returns a source that applies changes to each batch of another, in their order. The state of
// their generator depends on seed and position only, so that a training that is resumed makes the
// same draws. An error of a change is returned with the position.
//
//	fit := data.Map(data.Shuffled(set, 64, 1), 1, scale.Change(), data.Noise("x", 0.1))
func Map(source Source, seed uint64, changes ...Change) Source {
	if source == nil {
		return noSource("Map")
	}
	return &mapped{Source: source, seed: seed, changes: changes, draws: newDraws()}
}

type mapped struct {
	Source
	seed    uint64
	changes []Change
	draws   *draws
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

func (m *mapped) Next(ctx context.Context) (Batch, error) {
	at := m.Position()
	b, err := m.Source.Next(ctx)
	if err != nil {
		return Batch{}, err
	}
	rng := m.draws.at(mix(m.seed)+uint64(at.Epoch), uint64(at.Batch))
	for _, change := range m.changes {
		if change == nil {
			continue
		}
		if err := change(rng, b); err != nil {
			return Batch{}, errors.Join(fmt.Errorf("data: %v: %w", at, err), m.Seek(at))
		}
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
