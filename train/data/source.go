package data

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// Batch is what a step of training is fed: arrays of the same number of rows by the
// name of the input. Until the source's next one it is the caller's, who may change the
// elements; then it is gone.
type Batch struct {
	Rows   int
	Values map[string]*tensor.Dense

	rows []int // of the data set, where they are known
}

// Row is which row of the data set, counted from 0, row i of the batch is: for messages.
// It is known for batches of [Shuffled], without a Window, and [InOrder], also behind Map
// and Prefetch.
func (b Batch) Row(i int) (row int, known bool) {
	if i < 0 || i >= len(b.rows) {
		return 0, false
	}
	return b.rows[i], true
}

// Position is where a source stands: before batch Batch of epoch Epoch, from 0. It is
// all that a source needs to go on as if it had never stopped.
type Position struct {
	Epoch int `json:"epoch"`
	Batch int `json:"batch"`
}

// String gives "epoch 3, batch 17".
func (p Position) String() string { return fmt.Sprintf("epoch %d, batch %d", p.Epoch, p.Batch) }

// after is the position of the next of so many batches in an epoch.
func (p Position) after(batches int) Position {
	if p.Batch+1 >= batches {
		return Position{Epoch: p.Epoch + 1}
	}
	return Position{Epoch: p.Epoch, Batch: p.Batch + 1}
}

// check says whether there is such a position.
func (p Position) check(batches int) error {
	if p.Epoch < 0 || p.Batch < 0 || p.Batch >= max(1, batches) {
		return fmt.Errorf("data: no %v: there are %d batches in an epoch", p, batches)
	}
	return nil
}

// Source gives one batch after the other, without an end: after the last of an epoch
// comes the first of the next, and Position is then {Epoch + 1, 0}. What it gives
// depends on its arguments and the position alone; what these are a source may say as
// String() string, for [Describe]. It is for one goroutine.
type Source interface {
	// Next gives the next batch. It returns early with an error if ctx ends. After an
	// error the position is what it was.
	Next(ctx context.Context) (Batch, error)
	// Position is that of the next batch.
	Position() Position
	// Seek makes p the position. One that cannot be is an error, and changes nothing.
	Seek(p Position) error
	// Batches is the number of batches in an epoch; 0 if it is not known beforehand.
	Batches() int
}

// Describe gives in one line what the batches of a source depend on beside its position, or
// "" where it does not say: what it gives as String. Where the lines of two sources differ,
// so do their batches, and who goes on with the other one trains on something else. Those
// of this package say how rows are chosen, not what is in them nor where they lie:
//
//	in order(1437 rows, batches of 64)
//	shuffled(1437 rows, batches of 64, seed 3)
//	shuffled(100000 rows in windows of 65536, batches of 64, the last 32 dropped, seed 3)
//	drawn(20 batches of 64 rows, seed 3)
//	windows(50000 tokens, batches of 16 of length 64, seed 3)
//	map(shuffled(1437 rows, batches of 64, seed 3), 2 changes, seed 1)
//
// [Prefetch] says what its source does, and Map nothing where its source does not.
func Describe(s Source) string {
	if s, ok := s.(fmt.Stringer); ok {
		return input.OneLine.Replace(s.String())
	}
	return ""
}

// Batching changes how [Shuffled] and [InOrder] make batches.
type Batching func(*rowSource)

// DropLast leaves the rows out that are too few for a batch at the end of an epoch, so
// that all batches are of one size; with shuffling these are others in each epoch.
func DropLast() Batching { return func(r *rowSource) { r.dropLast = true } }

// CarryOver makes all batches of [Shuffled] one size without leaving rows out for good: those that are too
// few for a batch at the end of an epoch come first in the next one, so that every row is given as often
// as any other. An epoch has as many batches as there are whole ones. SGD comes nearer to rest with it than
// with [DropLast], whose epochs each leave out other rows: on iris in batches of 16 the gradient of k-means
// that is left is 20 times smaller. It changes nothing where rows are shuffled within a Window.
func CarryOver() Batching { return func(r *rowSource) { r.carry = true } }

// Shuffled gives the rows of a data set in batches of size, each epoch in the order that
// [Order] has for it and the seed; the last batch of an epoch may be shorter. A size
// below 1, or above that, means all rows.
func Shuffled(d Dataset, size int, seed uint64, how ...Batching) Source {
	r := newRowSource(d, size, how)
	r.seed = seed
	if r.window >= r.n {
		r.window = 0
	}
	if r.window == 0 {
		draws := newDraws()
		r.order = make([]int, r.n)
		r.rows = make([]int, r.size)
		r.begin = func(epoch int) { shuffle(r.order, draws.at(seed, uint64(epoch))) }
		return r
	}
	return newWindowed(r)
}

// InOrder gives the rows of a data set in batches of size in their own order, the same in
// each epoch.
func InOrder(d Dataset, size int, how ...Batching) Source {
	r := newRowSource(d, size, how)
	r.window = 0
	r.rows = make([]int, r.size)
	return r
}

// rowSource cuts a data set into batches.
type rowSource struct {
	data     Dataset
	n        int // rows
	size     int // of a batch; 0 without rows
	dropLast bool
	carry    bool
	window   int // rows that are shuffled at a time; 0 for all
	seed     uint64
	at       Position

	order []int           // of an epoch; nil for their own
	begin func(epoch int) // sets it
	epoch int             // whose order it is; −1 at first
	rows  []int           // of a batch, without order
	bufs  map[int]Batch   // by the number of rows: size, and that of the last
}

func newRowSource(d Dataset, size int, how []Batching) *rowSource {
	r := &rowSource{data: d, epoch: -1, bufs: map[int]Batch{}}
	if d != nil {
		r.n = max(0, d.Rows())
	}
	if r.size = size; size < 1 || size > r.n {
		r.size = r.n
	}
	for _, h := range how {
		if h != nil {
			h(r)
		}
	}
	return r
}

// String is for Describe.
func (r *rowSource) String() string {
	kind, rows, left, seed := "in order", fmt.Sprintf("%d rows", r.n), "", ""
	if r.order != nil || r.window > 0 {
		kind, seed = "shuffled", fmt.Sprintf(", seed %d", r.seed)
	}
	if r.window > 0 {
		rows += fmt.Sprintf(" in windows of %d", r.window)
	}
	switch over := r.n % max(1, r.size); {
	case over > 0 && r.carries():
		left = fmt.Sprintf(", %d carried over", over)
	case over > 0 && r.dropLast:
		left = fmt.Sprintf(", the last %d dropped", over)
	}
	return fmt.Sprintf("%s(%s, batches of %d%s%s)", kind, rows, r.size, left, seed)
}

// carries reports whether the rows left over of an epoch begin the next one.
func (r *rowSource) carries() bool { return r.carry && r.order != nil }

func (r *rowSource) Position() Position { return r.at }

func (r *rowSource) Batches() int {
	switch {
	case r.size == 0:
		return 0
	case r.dropLast, r.carries():
		return r.n / r.size
	}
	return (r.n-1)/r.size + 1
}

func (r *rowSource) Seek(p Position) error {
	if err := p.check(r.Batches()); err != nil {
		return err
	}
	r.at = p
	return nil
}

// next gives the arrays of the next batch and the place of its first row in the epoch.
func (r *rowSource) next(ctx context.Context) (b Batch, lo int, err error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, 0, err
	}
	if r.size == 0 {
		return Batch{}, 0, fmt.Errorf("data: a data set without rows has no batches")
	}
	lo = r.at.Batch * r.size
	n := min(r.size, r.n-lo)
	b, ok := r.bufs[n]
	if !ok {
		b = r.data.NewBatch(n)
		r.bufs[n] = b
	}
	return b, lo, nil
}

// sort brings the rows into the order of an epoch.
func (r *rowSource) sort(epoch int) {
	if r.epoch != epoch {
		r.begin(epoch)
		r.epoch = epoch
	}
}

func (r *rowSource) Next(ctx context.Context) (Batch, error) {
	b, lo, err := r.next(ctx)
	if err != nil {
		return Batch{}, err
	}
	var rows []int
	if r.carries() {
		rows = r.rows[:b.Rows]
		from := (r.at.Epoch*r.Batches() + r.at.Batch) * r.size // among the rows of all epochs
		for k := 0; k < len(rows); {
			r.sort((from + k) / r.n)
			k += copy(rows[k:], r.order[(from+k)%r.n:])
		}
	} else if r.order != nil {
		r.sort(r.at.Epoch)
		rows = r.order[lo : lo+b.Rows]
	} else {
		rows = r.rows[:b.Rows]
		for k := range rows {
			rows[k] = lo + k
		}
	}
	if err := r.data.Gather(ctx, b, rows); err != nil {
		return Batch{}, err
	}
	r.at = r.at.after(r.Batches())
	b.rows = rows
	return b, nil
}
