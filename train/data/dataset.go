package data

import (
	"context"
	"fmt"
	"reflect"
	"slices"

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

// columnTypes are what a graph can be fed.
var columnTypes = []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64, tensor.Bool}

// checkColumn says what keeps an array from being a column, or "".
func checkColumn(t *tensor.Dense) string {
	switch {
	case t == nil || t.Dtype().Type == nil || len(t.Shape()) == 0:
		return "want an array of at least one axis"
	case !slices.Contains(columnTypes, t.Dtype()):
		return fmt.Sprintf("elements of type %v: want float32, float64, int32, int64 or bool", t.Dtype())
	case t.RequiresIterator() || !t.DataOrder().IsRowMajor():
		return "a view: want a row-major array without gaps"
	}
	return ""
}

// newArray is an array of n rows of the given shape.
func newArray(dtype tensor.Dtype, n int, row []int) *tensor.Dense {
	return tensor.New(tensor.WithShape(append([]int{n}, row...)...), tensor.Of(dtype))
}

// newRowsLike is an array of n rows like those of t.
func newRowsLike(t *tensor.Dense, n int) *tensor.Dense { return newArray(t.Dtype(), n, t.Shape()[1:]) }

// bytesOf is the memory of an array's elements. (tensor.Dense.Data allocates.)
func bytesOf(t *tensor.Dense) []byte { return t.Raw }

// copyRows writes the given rows of from to those of to, an array like it, that begin at
// row at.
func copyRows(to *tensor.Dense, at int, from *tensor.Dense, rows []int) {
	x := bytesOf(from)
	width := len(x) / from.Shape()[0]
	y := bytesOf(to)[at*width:]
	for k, i := range rows {
		copy(y[k*width:(k+1)*width], x[i*width:(i+1)*width])
	}
}

// column returns b's array of a column, if that holds n rows of the given type and shape.
func (b Batch) column(name string, dtype tensor.Dtype, n int, row []int) (*tensor.Dense, error) {
	t := b.Values[name]
	if t == nil || t.Dtype() != dtype || len(t.Shape()) != 1+len(row) || t.Shape()[0] < n || !slices.Equal([]int(t.Shape()[1:]), row) {
		return nil, fmt.Errorf("data: the batch has no column %s for %d rows of %v %v: NewBatch makes one that has", quote(name), n, row, dtype)
	}
	return t, nil
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
