package format

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/tapestry-ml/tapestry/internal/half"
)

// Tensor is a TensorProto or a SparseTensorProto. Its elements are row-major and little-endian bytes
// in Raw, whichever field or file they were in, and dense; those of strings are in Strings.
type Tensor struct {
	Name    string
	Doc     string
	Type    DataType
	Dims    []int64
	Raw     Raw
	Strings []string
	Sparse  *Sparse // nil for one that is not sparse
	At      int64   // the place in the file
}

// Sparse has the elements of a tensor that are not 0: their values [n], and their places as int64 in
// increasing order, either indices of the row-major elements [n] or of the axes [n, axes].
type Sparse struct {
	Values  *Tensor
	Indices *Tensor
}

// Len returns the number of elements.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.Dims {
		n *= int(d)
	}
	return n
}

// Floats returns the elements as float64; those of integers and bool as the numbers that they are.
func (t *Tensor) Floats() ([]float64, error) { return numbers[float64](t) }

// Float32s returns the elements as float32, rounded to the nearest where they are of another type.
func (t *Tensor) Float32s() ([]float32, error) { return numbers[float32](t) }

// Ints returns the elements of a tensor of integers or bool. Those of uint64 beyond 2⁶³−1 are an
// error, and so is a tensor of floats.
func (t *Tensor) Ints() ([]int64, error) {
	if t.Type.IsFloat() {
		return nil, fmt.Errorf("tensor %.60q has elements of %v: want integers", t.Name, t.Type)
	}
	ints, err := numbers[int64](t)
	if err == nil && t.Type == Uint64 {
		for i, v := range ints {
			if v < 0 {
				return nil, fmt.Errorf("tensor %.60q: element %d is %d: no int64", t.Name, i, uint64(v))
			}
		}
	}
	return ints, err
}

type number interface{ float32 | float64 | int64 }

// numbers returns the elements as numbers of T.
func numbers[T number](t *Tensor) ([]T, error) {
	little := binary.LittleEndian
	switch t.Type {
	case Float:
		return decode(t, func(b []byte) T { return T(math.Float32frombits(little.Uint32(b))) })
	case Double:
		return decode(t, func(b []byte) T { return T(math.Float64frombits(little.Uint64(b))) })
	case Float16:
		return decode(t, func(b []byte) T { return T(half.Float32(little.Uint16(b))) })
	case BFloat16:
		return decode(t, func(b []byte) T { return T(half.Brain(little.Uint16(b))) })
	case Bool:
		return decode(t, func(b []byte) T { return T(min(b[0], 1)) })
	case Uint8:
		return decode(t, func(b []byte) T { return T(b[0]) })
	case Int8:
		return decode(t, func(b []byte) T { return T(int8(b[0])) })
	case Uint16:
		return decode(t, func(b []byte) T { return T(little.Uint16(b)) })
	case Int16:
		return decode(t, func(b []byte) T { return T(int16(little.Uint16(b))) })
	case Int32:
		return decode(t, func(b []byte) T { return T(int32(little.Uint32(b))) })
	case Uint32:
		return decode(t, func(b []byte) T { return T(little.Uint32(b)) })
	case Int64:
		return decode(t, func(b []byte) T { return T(int64(little.Uint64(b))) })
	case Uint64:
		return decode(t, func(b []byte) T { return T(little.Uint64(b)) })
	}
	return nil, fmt.Errorf("tensor %.60q has elements of %v: want numbers", t.Name, t.Type)
}

// decode returns the elements, a part of whose bytes is in memory at a time.
func decode[T any](t *Tensor, element func([]byte) T) ([]T, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	from, err := t.Raw.Open()
	if err != nil {
		return nil, fmt.Errorf("tensor %.60q: %w", t.Name, err)
	}
	out := make([]T, 0, t.Len())
	size := t.Type.Size()
	part := make([]byte, min(windowSize, t.Raw.Len()))
	for len(out) < cap(out) {
		part = part[:min(len(part), (cap(out)-len(out))*size)]
		if _, err := io.ReadFull(from, part); err != nil {
			return nil, fmt.Errorf("tensor %.60q: its data end after element %d: %w", t.Name, len(out), err)
		}
		for b := part; len(b) > 0; b = b[size:] {
			out = append(out, element(b))
		}
	}
	return out, nil
}

// check returns an error if the data are not as many as the elements.
func (t *Tensor) check() error {
	if t.Type == String {
		if len(t.Strings) != t.Len() {
			return fmt.Errorf("tensor %.60q has %d strings: want %d", t.Name, len(t.Strings), t.Len())
		}
		return nil
	}
	if want := int64(t.Len()) * int64(t.Type.Size()); t.Raw.Len() != want {
		return fmt.Errorf("tensor %.60q has %d bytes of data: want %d", t.Name, t.Raw.Len(), want)
	}
	return nil
}

// IntsOf returns a tensor of int64: one axis, or none where dims are given so.
func IntsOf(name string, dims []int64, v ...int64) *Tensor {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return &Tensor{Name: name, Type: Int64, Dims: dims, Raw: Bytes(b)}
}
