package data

import (
	"context"

	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
)

// Where gives the rows of a data set for which keep is true, in their order, as a data set
// that reads them from d: a part to fit and one to hold out of a file that is larger than
// memory. It keeps 8 bytes for each row. Of a [Set], [Set.Split] gives parts in memory.
//
//	fifth := func(i int) bool { return i%5 == 4 }
//	held := data.Where(file, fifth)
//	fit := data.Where(file, func(i int) bool { return !fifth(i) })
//	z, err := data.FitStandardiser(ctx, fit, "x")
//
// Rows are counted within the part, by sources and in [Batch.Row]. Without keep it is all
// of d, without d it has no rows.
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

// where is a part of a data set.
type where struct {
	data   Dataset
	kept   []int      // rows of data
	memory spare[int] // for rows of data that are asked for
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
