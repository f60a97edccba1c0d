package data

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/tensor"
)

// drawn draws every batch afresh.
type drawn struct {
	what  string // is drawn, but for the seed
	seed  uint64
	epoch int // batches
	batch Batch
	draws *draws
	draw  func(rng *rand.Rand, b Batch) error
	at    Position
}

// Drawn gives batches that are drawn afresh, epoch of them to an epoch, at least 1: draw
// fills the arrays of b, which are those given, all elements anew, from a generator of the
// position's own.
func Drawn(b Batch, epoch int, seed uint64, draw func(rng *rand.Rand, b Batch) error) Source {
	epoch = max(1, epoch)
	what := fmt.Sprintf("drawn(%d batches of %d rows", epoch, b.Rows)
	return &drawn{what: what, seed: seed, epoch: epoch, batch: b, draws: newDraws(), draw: draw}
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

func (d *drawn) Next(ctx context.Context) (Batch, error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	if d.draw == nil {
		return Batch{}, fmt.Errorf("data: Drawn has no function to draw with")
	}
	stream := uint64(d.at.Epoch)*uint64(d.epoch) + uint64(d.at.Batch)
	if err := d.draw(d.draws.at(d.seed, stream), d.batch); err != nil {
		return Batch{}, fmt.Errorf("data: %v: %w", d.at, err)
	}
	d.at = d.at.after(d.epoch)
	return d.batch, nil
}

// Windows draws windows of a sequence of tokens, as language models are trained on:
// size windows of length tokens a batch as column x[size length], and as y the same one
// token on, each starting anywhere with equal chance. An epoch is as many batches as it
// takes to see as many tokens as there are, rounded down, at least 1.
func Windows(tokens []int32, length, size int, seed uint64) (Source, error) {
	starts := len(tokens) - length // the last needs one token more
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
	d := Drawn(b, len(tokens)/(size*length), seed, func(rng *rand.Rand, b Batch) error {
		for k := range size {
			at := rng.IntN(starts)
			copy(x[k*length:(k+1)*length], tokens[at:])
			copy(y[k*length:(k+1)*length], tokens[at+1:])
		}
		return nil
	}).(*drawn)
	d.what = fmt.Sprintf("windows(%d tokens, batches of %d of length %d", len(tokens), size, length)
	return d, nil
}

// Consecutive is a set of the windows x[n length], y[n length] of a sequence that follow
// each other without overlap, for evaluation; what is left at the end is dropped.
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
