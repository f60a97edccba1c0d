package data

import (
	"context"

	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
)

// Window makes [Shuffled] hold at most so many rows in memory, for a data set on disk. It puts
// blocks of up to 1024 consecutive rows in a random order, reads windows of at least 64 blocks one
// after the other, and shuffles the rows within each window. Rows that do not fill a block come in
// the last window. If rows is below 1, or at least the number of rows of the data set, all rows are
// shuffled as without a Window.
func Window(rows int) Batching { return func(r *rowSource) { r.window = max(0, rows) } }

// blockRows is the largest number of rows of a block, and the distance between the rows whose
// places a CSVFile remembers.
const blockRows = 1024

// windowed is a rowSource that shuffles within windows, which it holds in memory of its own.
type windowed struct {
	*rowSource
	draws  *draws
	block  int   // rows
	blocks []int // the full blocks, in the epoch's order

	memory Batch // holds a window
	last   Batch // the beginning of memory, for the last window
	heldAt int   // the number of the window in memory, over all epochs; −1 for none
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

// hold returns window k of the epoch, and reads it unless it is in memory.
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
