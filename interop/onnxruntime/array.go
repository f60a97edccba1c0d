package onnxruntime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// Array is an input or a result of a model.
type Array struct {
	Type  ElementType
	Shape []int  // a scalar has none
	Data  []byte // row-major, little-endian; of Type.Size() bytes for each element
}

// Of returns an array over the elements, without a copy. Their type tells the array's; the bits of
// float16 and bfloat16 are made with [Array.As]. Without sizes the array is a scalar.
func Of[T float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool](elements []T, sizes ...int) Array {
	a := Array{Shape: slices.Clone(sizes), Data: bytesOf(elements)}
	switch any(elements).(type) {
	case []float32:
		a.Type = Float32
	case []float64:
		a.Type = Float64
	case []int8:
		a.Type = Int8
	case []int16:
		a.Type = Int16
	case []int32:
		a.Type = Int32
	case []int64:
		a.Type = Int64
	case []uint8:
		a.Type = Uint8
	case []uint16:
		a.Type = Uint16
	case []uint32:
		a.Type = Uint32
	case []uint64:
		a.Type = Uint64
	case []bool:
		a.Type = Bool
	}
	return a
}

// bytesOf returns the memory of elements.
func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// As returns the same bytes as elements of another type: bits of uint16 as Float16 or BFloat16.
func (a Array) As(t ElementType) Array {
	a.Type = t
	return a
}

// Len returns the number of elements that the shape has.
func (a Array) Len() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// check returns what is wrong with the array.
func (a Array) check() error {
	if a.Type.Size() == 0 {
		return fmt.Errorf("elements of %v: want float32, float64, float16, bfloat16, bool or integers", a.Type)
	}
	n := a.Type.Size()
	for _, d := range a.Shape {
		if d < 0 || d > 0 && n > math.MaxInt/d {
			return fmt.Errorf("shape %v: want sizes from 0, and fewer elements than fit memory", a.Shape)
		}
		n *= d
	}
	if len(a.Data) != n {
		return fmt.Errorf("%d bytes: want %d, for shape %v of %v", len(a.Data), n, a.Shape, a.Type)
	}
	return nil
}

// Floats returns the elements as numbers: bool as 0 and 1, and integers beyond 2⁵³ rounded. Data that
// are no array of their type are an error.
func (a Array) Floats() ([]float64, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	out := make([]float64, a.Len())
	for i := range out {
		out[i] = a.at(i)
	}
	return out, nil
}

// at returns an element as a number.
func (a Array) at(i int) float64 {
	le, size := binary.LittleEndian, a.Type.Size()
	b := a.Data[i*size : (i+1)*size]
	switch a.Type {
	case Float32:
		return float64(math.Float32frombits(le.Uint32(b)))
	case Float64:
		return math.Float64frombits(le.Uint64(b))
	case Float16:
		return float64(half.Float32(le.Uint16(b)))
	case BFloat16:
		return float64(half.Brain(le.Uint16(b)))
	case Int8:
		return float64(int8(b[0]))
	case Int16:
		return float64(int16(le.Uint16(b)))
	case Uint16:
		return float64(le.Uint16(b))
	case Int32:
		return float64(int32(le.Uint32(b)))
	case Uint32:
		return float64(le.Uint32(b))
	case Int64:
		return float64(int64(le.Uint64(b)))
	case Uint64:
		return float64(le.Uint64(b))
	}
	return float64(b[0]) // Uint8 and Bool
}

// FromTensor returns a tensor of a graph's type as an array. It is not copied, unless its elements
// are converted, or do not lie row-major without gaps; what a node of the type takes is in
// [tape.Feed].
func FromTensor(t graph.Type, d *tensor.Dense) (Array, error) {
	from, err := tape.ArrayOf(t, d)
	if err != nil {
		return Array{}, err
	}
	a := Array{Type: ElementOf(t.DType), Shape: t.Shape.Sizes()}
	switch t.DType {
	case graph.F32:
		a.Data = bytesOf(from.F32)
	case graph.F64:
		a.Data = bytesOf(from.F64)
	case graph.I32:
		a.Data = bytesOf(from.I32)
	case graph.I64:
		a.Data = bytesOf(from.I64)
	case graph.Bool:
		a.Data = bytesOf(from.Bool)
	case graph.F16, graph.BF16:
		a.Data = bytesOf(from.Half)
	case graph.I8:
		a.Data = bytesOf(from.I8)
	case graph.U8:
		a.Data = bytesOf(from.U8)
	}
	return a, a.check()
}

// Tensor returns a copy of the array as a tensor of a graph's type, which must have its elements and
// its sizes.
func (a Array) Tensor(t graph.Type) (*tensor.Dense, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if a.Type.DType() != t.DType || !t.DType.IsValid() || !slices.Equal(a.Shape, t.Shape.Sizes()) {
		return nil, fmt.Errorf("want %v, got %v of %v", t, a.Shape, a.Type)
	}
	if t.DType.IsHalf() {
		bits := make([]uint16, a.Len())
		copy(bytesOf(bits), a.Data)
		return tape.HalfBits(t, bits), nil
	}
	d := tape.Tensor(graph.NewValue(t))
	to, err := FromTensor(t, d)
	if err != nil {
		return nil, err
	}
	if copy(to.Data, a.Data) != len(a.Data) {
		return nil, errors.New("the tensor has other bytes than its type")
	}
	return d, nil
}
