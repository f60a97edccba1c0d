package data

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// Batch holds what a step of training is fed: arrays of Rows rows each, by the names of the model's
// inputs. The caller may change their elements. The source's next batch overwrites them.
type Batch struct {
	Rows   int
	Values map[string]*tensor.Dense
	// From and Of say that these are rows From, From+1 … of a batch of Of rows, of which other
	// programs have the rest. Of is 0 for a whole batch. See [Share].
	From, Of int
	// Sizes has what a net is built for besides the number of rows, such as the length of the
	// sequences in this batch; the zero value is nothing. See [Buckets].
	Sizes attr.Ints

	rows    []int // of the data set, where they are known
	rowwise *bool // set by Rowwise
}

// Rowwise is for a [Change] to call first that does with each row of b what it would do in the whole
// batch: if b is a part of one, it makes the draws for rows 0 … b.Of−1 and uses those of its own
// rows. Then [Share] of [Map] makes no more than the part. A change that does not call it is given
// whole batches, but for one part at the beginning, which is then thrown away.
func (b Batch) Rowwise() {
	if b.rowwise != nil {
		*b.rowwise = true
	}
}

// Row returns which row of the data set, counted from 0, row i of the batch is. It is known for
// batches of [InOrder], and of [Shuffled] without a [Window], also through [Map] and [Prefetch].
func (b Batch) Row(i int) (row int, known bool) {
	if i < 0 || i >= len(b.rows) {
		return 0, false
	}
	return b.rows[i], true
}

// Position is the position of a source: before batch Batch of epoch Epoch, both counted from 0. A
// source that is put there goes on as if it had never stopped.
type Position struct {
	Epoch int `json:"epoch"`
	Batch int `json:"batch"`
}

// String returns, for example, "epoch 3, batch 17".
func (p Position) String() string { return fmt.Sprintf("epoch %d, batch %d", p.Epoch, p.Batch) }

// after returns the next position, if an epoch has so many batches.
func (p Position) after(batches int) Position {
	if p.Batch+1 >= batches {
		return Position{Epoch: p.Epoch + 1}
	}
	return Position{Epoch: p.Epoch, Batch: p.Batch + 1}
}

// check returns an error if an epoch of so many batches has no such position.
func (p Position) check(batches int) error {
	if p.Epoch < 0 || p.Batch < 0 || p.Batch >= max(1, batches) {
		return fmt.Errorf("data: no %v: there are %d batches in an epoch", p, batches)
	}
	return nil
}

// Source gives one batch after the other, without end: the last batch of an epoch is followed by
// the first of the next, at position {Epoch + 1, 0}. A batch depends only on the position and on
// what the source was made of, which it may describe as String() string, for [Describe]. A source
// is for one goroutine.
type Source interface {
	// Next returns the next batch. It returns an error early if ctx ends. After an error the
	// position is unchanged.
	Next(ctx context.Context) (Batch, error)
	// Position returns the position of the next batch.
	Position() Position
	// Seek sets the position. An impossible one is an error and changes nothing.
	Seek(p Position) error
	// Batches returns the number of batches in an epoch, or 0 if it is not known beforehand.
	Batches() int
}

// Endless reports whether an epoch of a source never ends, so that it cannot be read as a whole: that
// of [Generated], or of [Map] and [Prefetch] of one. A source of one's own says so by a method
// Endless() bool.
func Endless(s Source) bool {
	e, ok := s.(interface{ Endless() bool })
	return ok && e.Endless()
}

// Describe returns in one line what the batches of a source depend on beside the position: its
// String, or "" if it has none. If the lines of two sources differ, so do their batches, and a
// training must not go on with one in place of the other. The sources of this package say how rows
// are chosen, not what they hold or where they lie:
//
//	in order(1437 rows, batches of 64)
//	shuffled(1437 rows, batches of 64, seed 3)
//	shuffled(100000 rows in windows of 65536, batches of 64, the last 32 dropped, seed 3)
//	drawn(20 batches of 64 rows, seed 3)
//	windows(50000 tokens, batches of 16 of length 64, seed 3)
//	map(shuffled(1437 rows, batches of 64, seed 3), 2 changes, seed 1)
//
// [Prefetch] has the line of its source, and Map has "" if its source does.
func Describe(s Source) string {
	if s, ok := s.(fmt.Stringer); ok {
		return input.OneLine.Replace(s.String())
	}
	return ""
}

// Batching is an option of [Shuffled] and [InOrder].
type Batching func(*rowSource)

// DropLast leaves out the rows at the end of an epoch that do not fill a batch, so that all batches
// are of one size. With shuffling these are other rows in each epoch.
func DropLast() Batching { return func(r *rowSource) { r.dropLast = true } }

// CarryOver makes all batches of [Shuffled] one size without leaving out rows for good: those that
// do not fill a batch at the end of an epoch come first in the next one, so that every row comes as
// often as any other. An epoch has as many batches as rows fill. SGD comes closer to a minimum with
// it than with [DropLast], which leaves out other rows in each epoch: on iris in batches of 16, the
// gradient of k-means that remains is 20 times smaller. It has no effect with a [Window].
func CarryOver() Batching { return func(r *rowSource) { r.carry = true } }

// Shuffled returns a source of the rows of d in batches of size rows, each epoch in the order that
// [Order] returns for it and the seed. The last batch of an epoch may be shorter. A size below 1,
// or above the number of rows, means all rows.
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

// InOrder returns a source of the rows of d in batches of size rows, in every epoch in their own
// order. Sizes mean what they mean to [Shuffled].
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

	order []int           // the order of an epoch; nil for that of the data set
	begin func(epoch int) // sets order
	epoch int             // the epoch that order is of; −1 at first
	rows  []int           // the rows of a batch, if order is nil
	bufs  map[int]Batch   // by the number of rows: size, and that of the last batch
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

// next returns the arrays of the wanted rows of the next batch, and the index of the first in the
// epoch.
func (r *rowSource) next(ctx context.Context, p *portion) (b Batch, lo int, err error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, 0, err
	}
	if r.size == 0 {
		return Batch{}, 0, fmt.Errorf("data: a data set without rows has no batches")
	}
	lo = r.at.Batch * r.size
	from, to, err := p.of(min(r.size, r.n-lo))
	if err != nil {
		return Batch{}, 0, err
	}
	b, ok := r.bufs[to-from]
	if !ok {
		if b.Values = nil; to > from {
			b = r.data.NewBatch(to - from)
		}
		r.bufs[to-from] = b
	}
	return p.mark(b, from, min(r.size, r.n-lo)), lo + from, nil
}

// sort brings the rows into the order of an epoch.
func (r *rowSource) sort(epoch int) {
	if r.epoch != epoch {
		r.begin(epoch)
		r.epoch = epoch
	}
}

func (r *rowSource) Next(ctx context.Context) (Batch, error) { return r.nextPortion(ctx, nil) }

func (r *rowSource) nextPortion(ctx context.Context, p *portion) (Batch, error) {
	b, lo, err := r.next(ctx, p)
	if err != nil {
		return Batch{}, err
	}
	var rows []int
	if r.carries() {
		rows = r.rows[:b.Rows]
		from := r.at.Epoch*r.Batches()*r.size + lo // among the rows of all epochs
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
	if len(rows) > 0 {
		if err := r.data.Gather(ctx, b, rows); err != nil {
			return Batch{}, err
		}
	}
	r.at = r.at.after(r.Batches())
	b.rows = rows
	return b, nil
}
