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

// windowed is a rowSource that shuffles within windows, of which it holds the wanted rows in memory
// of its own.
type windowed struct {
	*rowSource
	draws  *draws
	block  int   // rows
	blocks []int // the full blocks, in the epoch's order

	memory  Batch         // holds the wanted rows of a window
	heads   map[int]Batch // the beginnings of memory, by their rows
	held    Batch         // the one that is filled
	heldAt  int           // the number of the window in memory, over all epochs; −1 for none
	heldFor *portion
	within  []int  // the rows of held, in the order of the window
	wanted  []bool // by row of the window, before it is shuffled
	place   []int  // in held, likewise
	rows    []int  // of the data set, to read
}

func newWindowed(r *rowSource) Source {
	block := min(max(r.window/64, 1), blockRows)
	r.window -= r.window % block
	return &windowed{
		rowSource: r, draws: newDraws(), block: block, heldAt: -1, heads: map[int]Batch{},
		blocks: make([]int, r.n/block), within: make([]int, r.window), wanted: make([]bool, r.window),
		place: make([]int, r.window),
	}
}

func (w *windowed) Next(ctx context.Context) (Batch, error) { return w.nextPortion(ctx, nil) }

func (w *windowed) nextPortion(ctx context.Context, p *portion) (Batch, error) {
	b, lo, err := w.next(ctx, p)
	if err != nil {
		return Batch{}, err
	}
	for done := 0; done < b.Rows; {
		at := lo + done
		if err := w.hold(ctx, at/w.window, p); err != nil {
			return Batch{}, err
		}
		first := at % w.window
		n := min(b.Rows-done, w.length(at/w.window)-first)
		for name, t := range w.held.Values {
			tensors.CopyRows(b.Values[name], done, t, w.within[first:first+n])
		}
		done += n
	}
	w.at = w.at.after(w.Batches())
	return b, nil
}

// length returns the number of rows of window k of an epoch.
func (w *windowed) length(k int) int { return min(w.window, w.n-k*w.window) }

// hold has the wanted rows of window k of the epoch in memory.
func (w *windowed) hold(ctx context.Context, k int, p *portion) error {
	lo, n := k*w.window, w.length(k)
	id := w.at.Epoch*((w.n-1)/w.window+1) + k
	if id == w.heldAt && p == w.heldFor {
		return nil
	}
	if w.epoch != w.at.Epoch {
		shuffle(w.blocks, w.draws.at(w.seed, uint64(w.at.Epoch)))
		w.epoch = w.at.Epoch
	}
	w.heldAt = -1
	within := w.within[:n]
	shuffle(within, w.draws.at(mix(w.seed), uint64(id)))
	if err := w.want(lo, within, p); err != nil {
		return err
	}
	// The wanted rows lie in memory in the order in which the data set has them.
	w.rows = w.rows[:0]
	for i := range n {
		if !w.wanted[i] {
			continue
		}
		row := lo + i
		if b := row / w.block; b < len(w.blocks) {
			row = w.blocks[b]*w.block + row%w.block
		}
		w.place[i] = len(w.rows)
		w.rows = append(w.rows, row)
	}
	for j, i := range within {
		within[j] = w.place[i] // of no meaning where the row is not wanted
	}
	w.held = w.head(len(w.rows))
	if len(w.rows) > 0 {
		if err := w.data.Gather(ctx, w.held, w.rows); err != nil {
			return err
		}
	}
	w.heldAt, w.heldFor = id, p
	return nil
}

// want notes which rows of a window that begins at row lo of the epoch are in the wanted parts of
// its batches.
func (w *windowed) want(lo int, within []int, p *portion) error {
	for j := 0; j < len(within); {
		batch := (lo + j) / w.size
		begin := batch * w.size
		from, to, err := p.of(min(w.size, w.n-begin))
		if err != nil {
			return err
		}
		for ; j < len(within) && lo+j < begin+w.size; j++ {
			at := lo + j - begin
			w.wanted[within[j]] = from <= at && at < to
		}
	}
	return nil
}

// head returns memory for so many rows.
func (w *windowed) head(rows int) Batch {
	if rows > w.memory.Rows {
		w.memory = w.data.NewBatch(rows)
		clear(w.heads)
	}
	h, ok := w.heads[rows]
	if !ok {
		if h = w.memory; rows < h.Rows {
			h = h.head(rows)
		}
		w.heads[rows] = h
	}
	return h
}
