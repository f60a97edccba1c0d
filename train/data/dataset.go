package data

import (
	"context"
	"reflect"

	"gorgonia.org/tensor"
)

// Dataset holds rows that can be read in any order: a [Set] in memory, [Records] or a [CSVFile] on
// disk, or an implementation of your own. [Shuffled] and [InOrder] make a [Source] of it. It does
// not change, and several goroutines may read it.
type Dataset interface {
	// Rows returns the number of rows.
	Rows() int
	// NewBatch returns a batch of n rows for Gather to fill, n at least 1.
	NewBatch(n int) Batch
	// Gather fills b, a batch of len(rows) rows from NewBatch, with the given rows in their order.
	// A row may recur.
	Gather(ctx context.Context, b Batch, rows []int) error
}

// head returns the first n rows of a batch, which share its memory; it is empty for n = 0.
func (b Batch) head(n int) Batch {
	h := Batch{Rows: n, Sizes: b.Sizes, Values: map[string]*tensor.Dense{}}
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
