package data

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// Share returns a source of a part of each batch of another: rows [from,to), which part returns for
// the number of rows in the batch. It is for a program that trains together with others, each on its
// own rows of every batch. The arrays are those rows of the whole batch, bit for bit; [Batch] says
// as From and Of which they are. A part without rows has no arrays. Position, Seek, Batches and
// [Describe] are those of the source, which nothing else may use meanwhile.
//
// Where rows are chosen before they are read, no others are: by [InOrder], [Shuffled] and [Buckets],
// also through [Prefetch], and through [Map] if its changes are [Batch.Rowwise]; a [Window] holds no
// others, and [Windows] copies none. Any other source makes the whole batch, of which the part is
// copied.
func Share(source Source, part func(rows int) (from, to int)) Source {
	switch {
	case source == nil:
		return noSource("Share")
	case part == nil:
		return source
	}
	return &shared{source: source, part: &portion{part}, cuts: cuts{}}
}

// portion is which rows of a batch are wanted: all, if it is nil.
type portion struct {
	part func(rows int) (from, to int)
}

// of returns which rows of a batch are wanted.
func (p *portion) of(rows int) (from, to int, err error) {
	if p == nil {
		return 0, rows, nil
	}
	if from, to = p.part(rows); from < 0 || from > to || to > rows {
		return 0, 0, fmt.Errorf("data: Share: rows %d to %d of a batch of %d", from, to, rows)
	}
	return from, to, nil
}

// mark notes in b, which holds the wanted rows from one on, what it is.
func (p *portion) mark(b Batch, from, of int) Batch {
	b.From, b.Of = 0, 0
	if p != nil {
		b.From, b.Of = from, of
	}
	return b
}

// portioner is a source that makes the wanted rows of the next batch alone.
type portioner interface {
	Source
	nextPortion(ctx context.Context, p *portion) (Batch, error)
}

// shared is the source of Share.
type shared struct {
	source Source
	part   *portion
	cuts   cuts
}

// String is for Describe.
func (s *shared) String() string { return Describe(s.source) }

func (s *shared) Position() Position    { return s.source.Position() }
func (s *shared) Batches() int          { return s.source.Batches() }
func (s *shared) Seek(p Position) error { return s.source.Seek(p) }
func (s *shared) Endless() bool         { return Endless(s.source) }

func (s *shared) Next(ctx context.Context) (Batch, error) { return s.cuts.next(ctx, s.source, s.part) }

// cuts are the arrays of portions that are copied from whole batches.
type cuts map[shape]Batch

// next returns the wanted rows of a source's next batch.
func (c cuts) next(ctx context.Context, source Source, p *portion) (Batch, error) {
	if s, ok := source.(portioner); ok {
		return s.nextPortion(ctx, p)
	}
	at := source.Position()
	b, err := source.Next(ctx)
	if err != nil || p == nil {
		return b, err
	}
	if b, err = c.cut(b, p); err != nil {
		return Batch{}, errors.Join(err, source.Seek(at))
	}
	return b, nil
}

// cut copies the wanted rows of a batch, which may be a part of another. An array that has not a
// row for each of the batch is kept whole.
func (c cuts) cut(b Batch, p *portion) (Batch, error) {
	from, to, err := p.of(b.Rows)
	if err != nil {
		return Batch{}, err
	}
	key := shape{to - from, b.Sizes}
	own := c[key]
	if own.Values == nil {
		own = Batch{Rows: to - from, Sizes: b.Sizes, Values: map[string]*tensor.Dense{}}
		c[key] = own
	}
	for name := range own.Values {
		if b.Values[name] == nil {
			delete(own.Values, name)
		}
	}
	for name, t := range b.Values {
		switch {
		case to == from || t == nil:
			continue
		case len(t.Shape()) == 0 || t.Shape()[0] != b.Rows:
			own.Values[name] = t
			continue
		}
		if msg := tensors.CheckColumn(t); msg != "" {
			return Batch{}, fmt.Errorf("data: Share: column %q: %s", name, msg)
		}
		if !tensors.Alike(own.Values[name], t, to-from) {
			own.Values[name] = tensors.Like(t, to-from)
		}
		all := tensors.Bytes(t)
		width := len(all) / b.Rows
		copy(tensors.Bytes(own.Values[name]), all[from*width:to*width])
	}
	if own.rows = nil; b.rows != nil {
		own.rows = b.rows[from:to]
	}
	return p.mark(own, b.From+from, max(b.Of, b.Rows)), nil
}
