package data

import (
	"context"
	"reflect"

	"gorgonia.org/tensor"
)

// Dataset is rows that can be read in any order: a [Set] in memory, [Records] or a
// [CSVFile] on disk, or what another package has. [Shuffled] and [InOrder] make a
// [Source] of it. It does not change, and several goroutines may read it.
type Dataset interface {
	// Rows is the number of rows.
	Rows() int
	// NewBatch gives arrays for n rows, n at least 1.
	NewBatch(n int) Batch
	// Gather fills b, which NewBatch made for as many rows as are given, with these rows
	// in their order; a row may recur.
	Gather(ctx context.Context, b Batch, rows []int) error
}

// head is the first n rows of a batch, in the same memory; none for n = 0.
func (b Batch) head(n int) Batch {
	h := Batch{Rows: n, Values: map[string]*tensor.Dense{}}
	if n == 0 {
		return h
	}
	for name, t := range b.Values {
		elements := reflect.ValueOf(t.Data()).Slice(0, n*(t.Shape().TotalSize()/b.Rows)).Interface()
		shape := append([]int{n}, t.Shape()[1:]...)
		h.Values[name] = tensor.New(tensor.WithShape(shape...), tensor.WithBacking(elements))
	}
	return h
}
