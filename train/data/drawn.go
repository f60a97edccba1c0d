package data

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/tensor"
)

// drawn is the source of Drawn.
type drawn struct {
	what  string // the text form up to the seed
	seed  uint64
	epoch int // batches
	batch Batch
	draws *draws
	draw  func(rng *rand.Rand, b Batch) error
	rows  func(rng *rand.Rand, b Batch) // draws the rows of a part, if it can; for Windows
	parts map[int]Batch                 // by the number of rows
	cuts  cuts
	at    Position
}

// Drawn returns a source of batches that are drawn anew, epoch of them in an epoch, at least 1. For
// each, draw sets all elements of the arrays of b, using rng, a generator whose state depends on
// seed and position only. An error of draw is returned with the position.
func Drawn(b Batch, epoch int, seed uint64, draw func(rng *rand.Rand, b Batch) error) Source {
	epoch = max(1, epoch)
	what := fmt.Sprintf("drawn(%d batches of %d rows", epoch, b.Rows)
	return &drawn{what: what, seed: seed, epoch: epoch, batch: b, draws: newDraws(), draw: draw, parts: map[int]Batch{}, cuts: cuts{}}
}

// String is for Describe.
func (d *drawn) String() string { return fmt.Sprintf("%s, seed %d)", d.what, d.seed) }

func (d *drawn) Position() Position { return d.at }
func (d *drawn) Batches() int       { return d.epoch }

func (d *drawn) Seek(p Position) error {
	if err := p.check(d.epoch); err != nil {
		return err
	}
	d.at = p
	return nil
}

func (d *drawn) Next(ctx context.Context) (Batch, error) { return d.nextPortion(ctx, nil) }

func (d *drawn) nextPortion(ctx context.Context, p *portion) (Batch, error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	if d.draw == nil {
		return Batch{}, fmt.Errorf("data: Drawn has no function to draw with")
	}
	stream := uint64(d.at.Epoch)*uint64(d.epoch) + uint64(d.at.Batch)
	rng, b := d.draws.at(d.seed, stream), d.batch
	if p != nil && d.rows != nil {
		from, to, err := p.of(b.Rows)
		if err != nil {
			return Batch{}, err
		}
		b = p.mark(d.part(to-from), from, d.batch.Rows)
		d.rows(rng, b)
	} else {
		if err := d.draw(rng, b); err != nil {
			return Batch{}, fmt.Errorf("data: %v: %w", d.at, err)
		}
		if p != nil {
			var err error
			if b, err = d.cuts.cut(b, p); err != nil {
				return Batch{}, err
			}
		}
	}
	d.at = d.at.after(d.epoch)
	return b, nil
}

// part returns arrays for so many rows of the batch.
func (d *drawn) part(rows int) Batch {
	b, ok := d.parts[rows]
	if !ok {
		b = d.batch.head(rows)
		d.parts[rows] = b
	}
	return b
}

// Windows returns a source of random windows of a sequence of tokens, for training language models.
// A batch is size windows of length tokens as column x[size length], and the same windows one token
// later as column y[size length], both of tensor.Int32. All starts are equally likely. An epoch has
// len(tokens)/(size·length) batches, rounded down, at least 1. It is an error if size or length is
// below 1, or if there are no more tokens than length.
func Windows(tokens []int32, length, size int, seed uint64) (Source, error) {
	starts := len(tokens) - length // a window at the last one needs one more token for y
	if length < 1 || size < 1 || starts < 1 {
		return nil, fmt.Errorf("data: %d windows of %d from %d tokens: want at least one of each, and a token after the last", size, length, len(tokens))
	}
	if size > math.MaxInt32/length {
		return nil, fmt.Errorf("data: %d windows of %d tokens are too many for a batch: want at most %d tokens", size, length, math.MaxInt32)
	}
	x, y := make([]int32, size*length), make([]int32, size*length)
	b := Batch{Rows: size, Values: map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithShape(size, length), tensor.WithBacking(x)),
		"y": tensor.New(tensor.WithShape(size, length), tensor.WithBacking(y)),
	}}
	rows := func(rng *rand.Rand, b Batch) {
		for k := -b.From; k < b.Rows; k++ {
			if at := rng.IntN(starts); k >= 0 {
				copy(x[k*length:(k+1)*length], tokens[at:])
				copy(y[k*length:(k+1)*length], tokens[at+1:])
			}
		}
	}
	d := Drawn(b, len(tokens)/(size*length), seed, func(rng *rand.Rand, b Batch) error {
		rows(rng, b)
		return nil
	}).(*drawn)
	d.rows = rows
	d.what = fmt.Sprintf("windows(%d tokens, batches of %d of length %d", len(tokens), size, length)
	return d, nil
}

// Consecutive returns the windows of a sequence of tokens that follow each other without overlap,
// for evaluation: columns x[n length] and, one token later, y[n length], both of tensor.Int32.
// Tokens left at the end are dropped. It is an error if there is not a single window.
func Consecutive(tokens []int32, length int) (*Set, error) {
	n := 0
	if length > 0 {
		n = (len(tokens) - 1) / length
	}
	if n < 1 {
		return nil, fmt.Errorf("data: windows of %d from %d tokens: want at least one, and a token after it", length, len(tokens))
	}
	x, y := make([]int32, n*length), make([]int32, n*length)
	copy(x, tokens)
	copy(y, tokens[1:])
	return NewSet(map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithShape(n, length), tensor.WithBacking(x)),
		"y": tensor.New(tensor.WithShape(n, length), tensor.WithBacking(y)),
	})
}
