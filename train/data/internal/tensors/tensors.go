package tensors

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// ColumnTypes lists the types that a graph can be fed.
var ColumnTypes = []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64, tensor.Bool, tensor.Int8, tensor.Uint8}

// CheckColumn returns what keeps t from being a column, or "".
func CheckColumn(t *tensor.Dense) string {
	switch {
	case t == nil || t.Dtype().Type == nil || len(t.Shape()) == 0:
		return "want an array of at least one axis"
	case !slices.Contains(ColumnTypes, t.Dtype()):
		return fmt.Sprintf("elements of type %v: want float32, float64, int32, int64, int8, uint8 or bool", t.Dtype())
	case t.Shape()[0] == 0:
		return "it has no rows"
	case t.Shape().TotalSize() == 0:
		return fmt.Sprintf("rows of shape %v have no elements", []int(t.Shape()[1:]))
	case t.RequiresIterator() || !t.DataOrder().IsRowMajor():
		return "a view: want a row-major array without gaps"
	}
	return ""
}

// New returns a zero array of n rows of the given shape.
func New(dtype tensor.Dtype, n int, row []int) *tensor.Dense {
	return tensor.New(tensor.WithShape(append([]int{n}, row...)...), tensor.Of(dtype))
}

// Like returns a zero array of n rows like those of t.
func Like(t *tensor.Dense, n int) *tensor.Dense { return New(t.Dtype(), n, t.Shape()[1:]) }

// Alike reports whether t is an array of n rows like those of another.
func Alike(t, other *tensor.Dense, n int) bool {
	return CheckColumn(t) == "" && t.Dtype() == other.Dtype() && t.Shape()[0] == n && slices.Equal(t.Shape()[1:], other.Shape()[1:])
}

// Bytes returns the memory of t's elements. (tensor.Dense.Data allocates.)
func Bytes(t *tensor.Dense) []byte { return t.Raw }

// CopyRows copies the given rows of from to an array like it, from row at on.
func CopyRows(to *tensor.Dense, at int, from *tensor.Dense, rows []int) {
	x := Bytes(from)
	width := len(x) / from.Shape()[0]
	y := Bytes(to)[at*width:]
	for k, i := range rows {
		copy(y[k*width:(k+1)*width], x[i*width:(i+1)*width])
	}
}

// Column returns the named column of a batch's values. It is an error unless it holds at least n
// rows of the given type and shape.
func Column(values map[string]*tensor.Dense, name string, dtype tensor.Dtype, n int, row []int) (*tensor.Dense, error) {
	t := values[name]
	if t == nil || t.Dtype() != dtype || len(t.Shape()) != 1+len(row) || t.Shape()[0] < n || !slices.Equal([]int(t.Shape()[1:]), row) {
		return nil, fmt.Errorf("data: the batch has no column %s for %d rows of %v %v: NewBatch makes one that has", input.Quote(name), n, row, dtype)
	}
	return t, nil
}

// Floats converts the elements of t to floats, in to, and returns the index of the first that does
// not fit, or −1.
func Floats[F float32 | float64](to []F, t *tensor.Dense) int {
	switch t.Dtype() {
	case tensor.Float32:
		Convert(to, t.Float32s())
	case tensor.Int32:
		Convert(to, t.Int32s())
	case tensor.Int64:
		Convert(to, t.Int64s())
	case tensor.Int8:
		Convert(to, t.Int8s())
	case tensor.Uint8:
		Convert(to, t.Uint8s())
	case tensor.Bool:
		for i, x := range t.Bools() {
			if x {
				to[i] = 1
			}
		}
	case tensor.Float64:
		from := t.Float64s()
		Convert(to, from)
		for i, x := range to {
			if math.IsInf(float64(x), 0) && !math.IsInf(from[i], 0) {
				return i
			}
		}
	}
	return -1
}

// Convert converts the elements of from, in to.
func Convert[F float32 | float64 | int32 | int64, T float32 | float64 | int32 | int64 | int8 | uint8](to []F, from []T) {
	for i, x := range from {
		to[i] = F(x)
	}
}

// CheckRows returns an error for the first row outside [0, n).
func CheckRows(rows []int, n int) error {
	for _, i := range rows {
		if i < 0 || i >= n {
			return fmt.Errorf("data: row %d is outside [0, %d)", i, n)
		}
	}
	return nil
}

// Pick returns the elements of all at the given indices, or nil if all is nil.
func Pick[T any](all []T, rows []int) []T {
	if all == nil {
		return nil
	}
	picked := make([]T, len(rows))
	for k, i := range rows {
		picked[k] = all[i]
	}
	return picked
}
