package data

import (
	"context"

	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
)

// Where returns the rows i of d for which keep(i) is true, in their order, as a data set that reads
// them from d. It splits files that are larger than memory into parts to fit and to hold out, and
// takes 8 bytes a row. ([Set.Split] splits data in memory.)
//
//	fifth := func(i int) bool { return i%5 == 4 }
//	held := data.Where(file, fifth)
//	fit := data.Where(file, func(i int) bool { return !fifth(i) })
//	z, err := data.FitStandardiser(ctx, fit, "x")
//
// Rows are numbered within the part, by sources and in [Batch.Row]. A nil keep selects all rows,
// and a nil d has none.
func Where(d Dataset, keep func(i int) bool) Dataset {
	w := &where{data: d}
	if d == nil {
		return w
	}
	for i := range d.Rows() {
		if keep == nil || keep(i) {
			w.kept = append(w.kept, i)
		}
	}
	return w
}

// where is the data set of Where.
type where struct {
	data   Dataset
	kept   []int      // rows of data
	memory spare[int] // for the rows of data to gather
}

func (w *where) Rows() int { return len(w.kept) }

func (w *where) NewBatch(n int) Batch { return w.data.NewBatch(n) }

func (w *where) Gather(ctx context.Context, b Batch, rows []int) error {
	if err := tensors.CheckRows(rows, len(w.kept)); err != nil {
		return err
	}
	theirs := w.memory.get()[:0]
	defer func() { w.memory.put(theirs) }()
	for _, i := range rows {
		theirs = append(theirs, w.kept[i])
	}
	return w.data.Gather(ctx, b, theirs)
}
