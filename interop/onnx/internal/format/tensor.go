package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/tapestry-ml/tapestry/internal/half"
)

// DataType is the type of the elements of a tensor, as files number it.
type DataType int32

// The types of elements.
const (
	Undefined  DataType = 0
	Float      DataType = 1
	Uint8      DataType = 2
	Int8       DataType = 3
	Uint16     DataType = 4
	Int16      DataType = 5
	Int32      DataType = 6
	Int64      DataType = 7
	String     DataType = 8
	Bool       DataType = 9
	Float16    DataType = 10
	Double     DataType = 11
	Uint32     DataType = 12
	Uint64     DataType = 13
	Complex64  DataType = 14
	Complex128 DataType = 15
	BFloat16   DataType = 16
)

var dataTypes = [...]struct {
	name string
	size int
}{{"undefined", 0}, {"float32", 4}, {"uint8", 1}, {"int8", 1}, {"uint16", 2}, {"int16", 2}, {"int32", 4}, {"int64", 8}, {"string", 0}, {"bool", 1},
	{"float16", 2}, {"float64", 8}, {"uint32", 4}, {"uint64", 8}, {"complex64", 8}, {"complex128", 16}, {"bfloat16", 2}}

// IsValid reports whether t is one of the types above other than Undefined.
func (t DataType) IsValid() bool { return t > 0 && int(t) < len(dataTypes) }

// Size returns the bytes of an element; 0 for strings and for types that do not exist.
func (t DataType) Size() int {
	if !t.IsValid() {
		return 0
	}
	return dataTypes[t].size
}

// IsFloat reports whether elements are real floating-point numbers.
func (t DataType) IsFloat() bool {
	return t == Float || t == Double || t == Float16 || t == BFloat16
}

// String returns the name of the type: float32.
func (t DataType) String() string {
	if !t.IsValid() {
		return fmt.Sprintf("type(%d)", int32(t))
	}
	return dataTypes[t].name
}

// Tensor is a TensorProto. Its elements are row-major and little-endian bytes in Raw, whichever field
// of the message they were in; those of strings are in Strings.
type Tensor struct {
	Name    string
	Doc     string
	Type    DataType
	Dims    []int64
	Raw     Raw
	Strings []string
	At      int64 // the place in the file
}

// Raw is a run of bytes that need not be in memory.
type Raw struct {
	size int64
	open func() (io.Reader, error)
}

// Bytes returns b as a run of bytes.
func Bytes(b []byte) Raw {
	return Raw{int64(len(b)), func() (io.Reader, error) { return bytes.NewReader(b), nil }}
}

// Stream returns size bytes that open gives a reader of, once for each use.
func Stream(size int64, open func() (io.Reader, error)) Raw { return Raw{size, open} }

// Len returns the number of bytes.
func (r Raw) Len() int64 { return r.size }

// Open returns a reader of the bytes.
func (r Raw) Open() (io.Reader, error) {
	if r.open == nil {
		return bytes.NewReader(nil), nil
	}
	return r.open()
}

// Read returns the bytes.
func (r Raw) Read() ([]byte, error) {
	from, err := r.Open()
	if err != nil {
		return nil, err
	}
	b := make([]byte, r.size)
	if _, err := io.ReadFull(from, b); err != nil {
		return nil, err
	}
	return b, nil
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
func (t *Tensor) Floats() ([]float64, error) {
	b, err := t.read()
	if err != nil {
		return nil, err
	}
	out := make([]float64, t.Len())
	for i := range out {
		switch t.Type {
		case Float:
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		case Double:
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		case Float16:
			out[i] = float64(half.Float32(binary.LittleEndian.Uint16(b[2*i:])))
		case BFloat16:
			out[i] = float64(half.Brain(binary.LittleEndian.Uint16(b[2*i:])))
		case Uint64:
			out[i] = float64(binary.LittleEndian.Uint64(b[8*i:]))
		default:
			out[i] = float64(t.whole(b, i))
		}
	}
	return out, nil
}

// Ints returns the elements of a tensor of integers or bool. Those of uint64 beyond 2⁶³−1 are an
// error, and so is a tensor of floats.
func (t *Tensor) Ints() ([]int64, error) {
	if t.Type.IsFloat() {
		return nil, fmt.Errorf("tensor %q has elements of %v: want integers", t.Name, t.Type)
	}
	b, err := t.read()
	if err != nil {
		return nil, err
	}
	out := make([]int64, t.Len())
	for i := range out {
		out[i] = t.whole(b, i)
		if t.Type == Uint64 && out[i] < 0 {
			return nil, fmt.Errorf("tensor %q: element %d is %d: no int64", t.Name, i, uint64(out[i]))
		}
	}
	return out, nil
}

// read returns the bytes, as many as the elements take.
func (t *Tensor) read() ([]byte, error) {
	size := t.Type.Size()
	if size == 0 || t.Type == Complex64 || t.Type == Complex128 {
		return nil, fmt.Errorf("tensor %q has elements of %v: want numbers", t.Name, t.Type)
	}
	if want := int64(t.Len()) * int64(size); t.Raw.Len() != want {
		return nil, fmt.Errorf("tensor %q has %d bytes of data: want %d", t.Name, t.Raw.Len(), want)
	}
	return t.Raw.Read()
}

// whole returns element i of integers.
func (t *Tensor) whole(b []byte, i int) int64 {
	switch t.Type {
	case Uint8, Bool:
		return int64(b[i])
	case Int8:
		return int64(int8(b[i]))
	case Uint16:
		return int64(binary.LittleEndian.Uint16(b[2*i:]))
	case Int16:
		return int64(int16(binary.LittleEndian.Uint16(b[2*i:])))
	case Int32:
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	case Uint32:
		return int64(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return int64(binary.LittleEndian.Uint64(b[8*i:]))
}

// IntsOf returns a tensor of int64: one axis, or none where dims are given so.
func IntsOf(name string, dims []int64, v ...int64) *Tensor {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return &Tensor{Name: name, Type: Int64, Dims: dims, Raw: Bytes(b)}
}
