package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/half"
	"gorgonia.org/tensor"
)

// element is the type of the numbers in a binary file.
type element struct {
	kind byte // as NumPy has it: f, i, u, and b for a boolean byte
	size int  // in bytes
}

func (e element) String() string { return fmt.Sprintf("%c%d", e.kind, e.size) }

// chunk is how many bytes are converted at a time; a multiple of every size.
const chunk = 64 << 10

// layout is what the header of a file says of the elements that follow.
type layout struct {
	element                element
	bigEndian, columnMajor bool
	shape                  []int64
}

// decoder makes what a graph has of an element's bytes, little endian: a func([]byte) T
// for T one of float32, float64, int32, int64, bool; nil for a type that is not read. A
// uint64 may come out negative.
func (e element) decoder() any {
	little := binary.LittleEndian
	switch e {
	case element{'f', 2}:
		return func(p []byte) float32 { return half.Float32(little.Uint16(p)) }
	case element{'f', 4}:
		return func(p []byte) float32 { return math.Float32frombits(little.Uint32(p)) }
	case element{'f', 8}:
		return func(p []byte) float64 { return math.Float64frombits(little.Uint64(p)) }
	case element{'b', 1}:
		return func(p []byte) bool { return p[0] != 0 }
	case element{'i', 1}:
		return func(p []byte) int32 { return int32(int8(p[0])) }
	case element{'u', 1}:
		return func(p []byte) int32 { return int32(p[0]) }
	case element{'i', 2}:
		return func(p []byte) int32 { return int32(int16(little.Uint16(p))) }
	case element{'u', 2}:
		return func(p []byte) int32 { return int32(little.Uint16(p)) }
	case element{'i', 4}:
		return func(p []byte) int32 { return int32(little.Uint32(p)) }
	case element{'u', 4}:
		return func(p []byte) int64 { return int64(little.Uint32(p)) }
	case element{'i', 8}, element{'u', 8}:
		return func(p []byte) int64 { return int64(little.Uint64(p)) }
	}
	return nil
}

// tensor reads an array of elements to the end of the file. Of a column-major one,
// whose first index runs fastest, the elements are put in row-major order.
func (b *binaryReader) tensor(l layout) (*tensor.Dense, error) {
	n, err := b.elements(l.shape)
	if err != nil {
		return nil, err
	}
	a := arrayReader{b, l, n}
	switch decode := l.element.decoder().(type) {
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
	}
	return nil, b.errorf(0, "elements of type %v are not read", l.element)
}

// arrayReader is an array about to be read.
type arrayReader struct {
	*binaryReader
	layout
	n int
}

// readArray takes memory as the file justifies it: at once where the file is known to
// be long enough, and otherwise growing with what has come.
func readArray[T any](a arrayReader, decode func([]byte) T) (*tensor.Dense, error) {
	start, want := a.offset, int64(a.n)*int64(a.element.size)
	if have := a.size - start; a.size >= 0 && have < want {
		return nil, a.errorf(a.size, "the file ends after %d of %d elements", have/int64(a.element.size), a.n)
	}
	x := make([]T, 0, min(a.n, chunk))
	if a.size >= 0 {
		x = make([]T, 0, a.n)
	}
	buf := make([]byte, min(want, chunk))
	for len(x) < a.n {
		p := buf[:min(int64(len(buf)), want-(a.offset-start))]
		switch _, err := a.read(p); {
		case err == io.EOF:
			return nil, a.errorf(a.offset, "the file ends after %d of %d elements", (a.offset-start)/int64(a.element.size), a.n)
		case err != nil:
			return nil, err
		}
		if a.bigEndian {
			turn(p, a.element.size)
		}
		for k := 0; k < len(p); k += a.element.size {
			if a.element == (element{'u', 8}) && p[k+7]&0x80 != 0 {
				return nil, a.errorf(start+int64(len(x)*8), "element %d, %d, does not fit int64", len(x), binary.LittleEndian.Uint64(p[k:]))
			}
			x = append(x, decode(p[k:k+a.element.size]))
		}
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	shape := make([]int, len(a.shape))
	for i, size := range a.shape {
		shape[i] = int(size)
	}
	if a.columnMajor {
		x = rowMajor(x, shape)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x)), nil
}

// rowMajor puts elements whose first index runs fastest in the order in which the
// last one does.
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

// turn changes the byte order of elements.
func turn(p []byte, size int) {
	if size == 1 {
		return
	}
	for k := 0; k < len(p); k += size {
		slices.Reverse(p[k : k+size])
	}
}

// encoder says of which type the elements of a tensor are in a file and how to put
// number i into bytes, little endian; ok is false for a type that has no place in one.
func encoder(t *tensor.Dense) (e element, put func(p []byte, i int), ok bool) {
	little := binary.LittleEndian
	switch t.Dtype() {
	case tensor.Float32:
		x := t.Float32s()
		return element{'f', 4}, func(p []byte, i int) { little.PutUint32(p, math.Float32bits(x[i])) }, true
	case tensor.Float64:
		x := t.Float64s()
		return element{'f', 8}, func(p []byte, i int) { little.PutUint64(p, math.Float64bits(x[i])) }, true
	case tensor.Bool:
		x := t.Bools()
		return element{'b', 1}, func(p []byte, i int) {
			p[0] = 0
			if x[i] {
				p[0] = 1
			}
		}, true
	case tensor.Int8:
		x := t.Int8s()
		return element{'i', 1}, func(p []byte, i int) { p[0] = byte(x[i]) }, true
	case tensor.Uint8:
		x := t.Uint8s()
		return element{'u', 1}, func(p []byte, i int) { p[0] = x[i] }, true
	case tensor.Int16:
		x := t.Int16s()
		return element{'i', 2}, func(p []byte, i int) { little.PutUint16(p, uint16(x[i])) }, true
	case tensor.Uint16:
		x := t.Uint16s()
		return element{'u', 2}, func(p []byte, i int) { little.PutUint16(p, x[i]) }, true
	case tensor.Int32:
		x := t.Int32s()
		return element{'i', 4}, func(p []byte, i int) { little.PutUint32(p, uint32(x[i])) }, true
	case tensor.Uint32:
		x := t.Uint32s()
		return element{'u', 4}, func(p []byte, i int) { little.PutUint32(p, x[i]) }, true
	case tensor.Int64:
		x := t.Int64s()
		return element{'i', 8}, func(p []byte, i int) { little.PutUint64(p, uint64(x[i])) }, true
	case tensor.Uint64:
		x := t.Uint64s()
		return element{'u', 8}, func(p []byte, i int) { little.PutUint64(p, x[i]) }, true
	}
	return element{}, nil, false
}

// gapless returns t, or a copy if it is a view whose elements do not lie side by side.
func gapless(t *tensor.Dense) (*tensor.Dense, error) {
	if t == nil || t.Dtype().Type == nil {
		return nil, &Error{Msg: "there is no tensor to write"}
	}
	if t.IsMasked() {
		return nil, &Error{Msg: "the tensor has a mask, which the file would lose"}
	}
	if t.RequiresIterator() {
		t = t.Materialize().(*tensor.Dense)
	}
	return t, nil
}

// writeElements writes n elements.
func writeElements(w io.Writer, e element, bigEndian bool, n int, put func(p []byte, i int)) error {
	buf := make([]byte, 0, min(chunk, n*e.size))
	for i := 0; i < n; {
		buf = buf[:min(cap(buf)/e.size, n-i)*e.size]
		for k := 0; k < len(buf); k += e.size {
			put(buf[k:k+e.size], i)
			i++
		}
		if bigEndian {
			turn(buf, e.size)
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
