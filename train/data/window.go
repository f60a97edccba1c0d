package data

import (
	"context"

	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
)

// Window makes [Shuffled] hold no more than so many rows in memory, for a data set that
// lies on disk: blocks of consecutive rows are put in a random order, windows of at least
// 64 blocks are read one after the other, and the rows of a window are shuffled. Blocks
// are of at most 1024 rows. The rows that fill no block come in the last window. A
// window of at least as many rows as there are, or below 1, shuffles all as without it.
func Window(rows int) Batching { return func(r *rowSource) { r.window = max(0, rows) } }

// blockRows is the longest block of a window, and the distance between the rows that a
// CSVFile remembers the places of.
const blockRows = 1024

// windowed is a rowSource that shuffles within windows of its own memory.
type windowed struct {
	*rowSource
	draws  *draws
	block  int   // rows
	blocks []int // the whole ones, in the epoch's order

	memory Batch // for a window
	last   Batch // the beginning of memory, for the last window
	heldAt int   // the window it holds, counted over all epochs; −1 for none
	within []int // the order of its rows
}

func newWindowed(r *rowSource) Source {
	block := min(max(r.window/64, 1), blockRows)
	r.window -= r.window % block
	return &windowed{
		rowSource: r, draws: newDraws(), block: block, heldAt: -1,
		blocks: make([]int, r.n/block), within: make([]int, r.window),
	}
}

func (w *windowed) Next(ctx context.Context) (Batch, error) {
	b, lo, err := w.next(ctx)
	if err != nil {
		return Batch{}, err
	}
	for done := 0; done < b.Rows; {
		at := lo + done
		held, err := w.hold(ctx, at/w.window)
		if err != nil {
			return Batch{}, err
		}
		first := at % w.window
		n := min(b.Rows-done, held.Rows-first)
		for name, t := range held.Values {
			tensors.CopyRows(b.Values[name], done, t, w.within[first:first+n])
		}
		done += n
	}
	w.at = w.at.after(w.Batches())
	return b, nil
}

// hold gives window k of the epoch, which it reads unless it is there.
func (w *windowed) hold(ctx context.Context, k int) (Batch, error) {
	lo := k * w.window
	held := w.memory
	if w.n-lo < w.window {
		held = w.last
	}
	id := w.at.Epoch*((w.n-1)/w.window+1) + k
	if id == w.heldAt {
		return held, nil
	}
	if w.memory.Rows == 0 {
		w.memory = w.data.NewBatch(w.window)
		w.last = w.memory.head(w.n % w.window)
		return w.hold(ctx, k)
	}
	if w.epoch != w.at.Epoch {
		shuffle(w.blocks, w.draws.at(w.seed, uint64(w.at.Epoch)))
		w.epoch = w.at.Epoch
	}
	rows := w.within[:held.Rows]
	for i := range rows {
		rows[i] = lo + i
		if b := rows[i] / w.block; b < len(w.blocks) {
			rows[i] = w.blocks[b]*w.block + rows[i]%w.block
		}
	}
	w.heldAt = -1
	if err := w.data.Gather(ctx, held, rows); err != nil {
		return Batch{}, err
	}
	shuffle(rows, w.draws.at(mix(w.seed), uint64(id)))
	w.heldAt = id
	return held, nil
}
