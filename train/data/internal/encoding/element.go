package encoding

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/internal/vacant"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// Element is the type of the numbers in a binary file.
type Element struct {
	kind byte // as NumPy has it: f, i, u, and b for a boolean byte
	Size int  // in bytes
}

func (e Element) String() string { return fmt.Sprintf("%c%d", e.kind, e.Size) }

// IsUint64 reports whether the elements are unsigned integers of 64 bits, which may not fit int64.
func (e Element) IsUint64() bool { return e == Element{'u', 8} }

// Chunk is the number of bytes that are converted at a time, a multiple of every element's size.
const Chunk = 64 << 10

// Layout holds what the header of a file says of the elements that follow.
type Layout struct {
	Element                Element
	BigEndian, ColumnMajor bool
	Shape                  []int64
}

// Decoder returns a func([]byte) T that converts the little-endian bytes of an element to the type
// T that graphs have for it, or nil if the type is not read: float32 for a float16, whose numbers are
// float32's too, int8, uint8 and so on. A uint64 beyond int64 comes out negative.
func (e Element) Decoder() any {
	little := binary.LittleEndian
	switch e {
	case Element{'f', 2}:
		return func(p []byte) float32 { return half.Float32(little.Uint16(p)) }
	case Element{'f', 4}:
		return func(p []byte) float32 { return math.Float32frombits(little.Uint32(p)) }
	case Element{'f', 8}:
		return func(p []byte) float64 { return math.Float64frombits(little.Uint64(p)) }
	case Element{'b', 1}:
		return func(p []byte) bool { return p[0] != 0 }
	case Element{'i', 1}:
		return func(p []byte) int8 { return int8(p[0]) }
	case Element{'u', 1}:
		return func(p []byte) uint8 { return p[0] }
	case Element{'i', 2}:
		return func(p []byte) int32 { return int32(int16(little.Uint16(p))) }
	case Element{'u', 2}:
		return func(p []byte) int32 { return int32(little.Uint16(p)) }
	case Element{'i', 4}:
		return func(p []byte) int32 { return int32(little.Uint32(p)) }
	case Element{'u', 4}:
		return func(p []byte) int64 { return int64(little.Uint32(p)) }
	case Element{'i', 8}, Element{'u', 8}:
		return func(p []byte) int64 { return int64(little.Uint64(p)) }
	}
	return nil
}

// ReadTensor reads an array of elements that ends the file, and puts the elements of a column-major
// one, whose first index varies fastest, in row-major order.
func ReadTensor(b *input.Binary, l Layout) (*tensor.Dense, error) {
	n, err := b.Elements(l.Shape)
	if err != nil {
		return nil, err
	}
	a := arrayReader{b, l, n}
	switch decode := l.Element.Decoder().(type) {
	case func([]byte) float32:
		return readArray(a, decode)
	case func([]byte) float64:
		return readArray(a, decode)
	case func([]byte) int32:
		return readArray(a, decode)
	case func([]byte) int64:
		return readArray(a, decode)
	case func([]byte) bool:
		return readArray(a, decode)
	case func([]byte) int8:
		return readArray(a, decode)
	case func([]byte) uint8:
		return readArray(a, decode)
	}
	return nil, b.Errorf(0, "elements of type %v are not read", l.Element)
}

// arrayReader is an array about to be read.
type arrayReader struct {
	*input.Binary
	Layout
	n int
}

// readArray allocates all memory at once if the file is known to be long enough, and otherwise as
// elements are read.
func readArray[T any](a arrayReader, decode func([]byte) T) (*tensor.Dense, error) {
	start, want := a.Offset, int64(a.n)*int64(a.Element.Size)
	if have := a.Size - start; a.Size >= 0 && have < want {
		return nil, a.Errorf(a.Size, "the file ends after %d of %d elements", have/int64(a.Element.Size), a.n)
	}
	x := make([]T, 0, min(a.n, Chunk))
	if a.Size >= 0 {
		x = make([]T, 0, a.n)
	}
	buf := make([]byte, min(want, Chunk))
	for len(x) < a.n {
		p := buf[:min(int64(len(buf)), want-(a.Offset-start))]
		switch _, err := a.Read(p); {
		case err == io.EOF:
			return nil, a.Errorf(a.Offset, "the file ends after %d of %d elements", (a.Offset-start)/int64(a.Element.Size), a.n)
		case err != nil:
			return nil, err
		}
		if a.BigEndian {
			Turn(p, a.Element.Size)
		}
		for k := 0; k < len(p); k += a.Element.Size {
			if a.Element.IsUint64() && p[k+7]&0x80 != 0 {
				return nil, a.Errorf(start+int64(len(x)*8), "element %d, %d, does not fit int64", len(x), binary.LittleEndian.Uint64(p[k:]))
			}
			x = append(x, decode(p[k:k+a.Element.Size]))
		}
	}
	if err := a.End(); err != nil {
		return nil, err
	}
	shape := make([]int, len(a.Shape))
	for i, size := range a.Shape {
		shape[i] = int(size)
	}
	if a.n == 0 {
		return vacant.Dense(tensor.Dtype{Type: reflect.TypeFor[T]()}, shape), nil
	}
	if a.ColumnMajor {
		x = rowMajor(x, shape)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x)), nil
}

// rowMajor returns elements whose first index varies fastest in the order in which the last one
// does.
func rowMajor[T any](x []T, shape []int) []T {
	y := make([]T, len(x))
	index := make([]int, len(shape))
	at := 0 // of the element of y at the index, in row-major order
	for _, v := range x {
		y[at] = v
		stride := len(x)
		for i := range shape {
			stride /= shape[i]
			at += stride
			if index[i]++; index[i] < shape[i] {
				break
			}
			at -= stride * shape[i]
			index[i] = 0
		}
	}
	return y
}

// Turn reverses the bytes of each element.
func Turn(p []byte, size int) {
	if size == 1 {
		return
	}
	for k := 0; k < len(p); k += size {
		slices.Reverse(p[k : k+size])
	}
}

// Encoder returns the type that the elements of t have in a file, and a function that writes
// element i as little-endian bytes; ok is false for a type that files do not hold.
func Encoder(t *tensor.Dense) (e Element, put func(p []byte, i int), ok bool) {
	little := binary.LittleEndian
	switch t.Dtype() {
	case tensor.Float32:
		x := t.Float32s()
		return Element{'f', 4}, func(p []byte, i int) { little.PutUint32(p, math.Float32bits(x[i])) }, true
	case tensor.Float64:
		x := t.Float64s()
		return Element{'f', 8}, func(p []byte, i int) { little.PutUint64(p, math.Float64bits(x[i])) }, true
	case tensor.Bool:
		x := t.Bools()
		return Element{'b', 1}, func(p []byte, i int) {
			p[0] = 0
			if x[i] {
				p[0] = 1
			}
		}, true
	case tensor.Int8:
		x := t.Int8s()
		return Element{'i', 1}, func(p []byte, i int) { p[0] = byte(x[i]) }, true
	case tensor.Uint8:
		x := t.Uint8s()
		return Element{'u', 1}, func(p []byte, i int) { p[0] = x[i] }, true
	case tensor.Int16:
		x := t.Int16s()
		return Element{'i', 2}, func(p []byte, i int) { little.PutUint16(p, uint16(x[i])) }, true
	case tensor.Uint16:
		x := t.Uint16s()
		kind := byte('u')
		if e, told := t.Engine().(interface{ BitsOf() string }); told {
			if kind = 'f'; e.BitsOf() != "f16" {
				return Element{}, nil, false
			}
		}
		return Element{kind, 2}, func(p []byte, i int) { little.PutUint16(p, x[i]) }, true
	case tensor.Int32:
		x := t.Int32s()
		return Element{'i', 4}, func(p []byte, i int) { little.PutUint32(p, uint32(x[i])) }, true
	case tensor.Uint32:
		x := t.Uint32s()
		return Element{'u', 4}, func(p []byte, i int) { little.PutUint32(p, x[i]) }, true
	case tensor.Int64:
		x := t.Int64s()
		return Element{'i', 8}, func(p []byte, i int) { little.PutUint64(p, uint64(x[i])) }, true
	case tensor.Uint64:
		x := t.Uint64s()
		return Element{'u', 8}, func(p []byte, i int) { little.PutUint64(p, x[i]) }, true
	}
	return Element{}, nil, false
}

// Gapless returns t, or a copy if t is a view whose elements are not contiguous.
func Gapless(t *tensor.Dense) (*tensor.Dense, error) {
	if t == nil || t.Dtype().Type == nil {
		return nil, &input.Error{Msg: "there is no tensor to write"}
	}
	if t.IsMasked() && !vacant.Is(t) {
		return nil, &input.Error{Msg: "the tensor has a mask, which the file would lose"}
	}
	if t.RequiresIterator() {
		t = t.Materialize().(*tensor.Dense)
	}
	return t, nil
}

// WriteElements writes n elements that put converts.
func WriteElements(w io.Writer, e Element, bigEndian bool, n int, put func(p []byte, i int)) error {
	buf := make([]byte, 0, min(Chunk, n*e.Size))
	for i := 0; i < n; {
		buf = buf[:min(cap(buf)/e.Size, n-i)*e.Size]
		for k := 0; k < len(buf); k += e.Size {
			put(buf[k:k+e.Size], i)
			i++
		}
		if bigEndian {
			Turn(buf, e.Size)
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
