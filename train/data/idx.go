package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"gorgonia.org/tensor"
)

// idxElements are the types of IDX files at the place of their code:
// http://yann.lecun.com/exdb/mnist/
var idxElements = [...]element{0x08: {'u', 1}, 0x09: {'i', 1}, 0x0b: {'i', 2}, 0x0c: {'i', 4}, 0x0d: {'f', 4}, 0x0e: {'f', 8}}

// OpenIDX reads the file at path as ReadIDX does.
func OpenIDX(path string, opts ...Option) (*tensor.Dense, error) { return open(path, ReadIDX, opts) }

// ReadIDX reads an array in the format of MNIST, also compressed by gzip: two bytes
// 0, the type, the number of axes, the sizes and the elements, all big endian; name is
// what errors call it. Bytes and integers, such as pixels and labels, give a tensor of
// int32, floating-point numbers their own type. An array without elements, more than 8
// axes and bytes behind the array are *Errors. It takes MaxBytes and MaxCells.
func ReadIDX(name string, r io.Reader, opts ...Option) (*tensor.Dense, error) {
	b, err := newUnpackedReader(name, r, newConfig(arrays, opts))
	if err != nil {
		return nil, err
	}
	l, err := b.idxLayout()
	if err != nil {
		return nil, err
	}
	return b.tensor(l)
}

// idxLayout reads a header.
func (b *binaryReader) idxLayout() (layout, error) {
	var magic [4]byte
	if n, err := b.read(magic[:]); err != nil && err != io.EOF {
		return layout{}, err
	} else if n < len(magic) || magic[0] != 0 || magic[1] != 0 {
		return layout{}, b.errorf(0, "not an IDX file: it does not begin with two bytes 0, a type and a number of axes")
	}
	var e element
	if int(magic[2]) < len(idxElements) {
		e = idxElements[magic[2]]
	}
	if e.size == 0 {
		return layout{}, b.errorf(2, "type 0x%02x is none of those of IDX files: 08, 09, 0b, 0c, 0d, 0e", magic[2])
	}
	sizes := make([]byte, 4*int(magic[3]))
	if err := b.fill(sizes, "the sizes"); err != nil {
		return layout{}, err
	}
	shape := make([]int64, magic[3])
	for i := range shape {
		shape[i] = int64(binary.BigEndian.Uint32(sizes[4*i:]))
	}
	return layout{element: e, bigEndian: true, shape: shape}, nil
}

// WriteIDX writes t in the format of MNIST, not compressed. t is of uint8, as pixels
// are, int8, int16, int32, float32 or float64.
func WriteIDX(w io.Writer, t *tensor.Dense) error {
	if w == nil {
		return noWriter()
	}
	t, err := gapless(t)
	if err != nil {
		return err
	}
	if t.Dims() > 1 && t.DataOrder().IsColMajor() {
		return &Error{Msg: "the tensor is column-major; an IDX file is row-major"}
	}
	e, put, _ := encoder(t)
	code := slices.Index(idxElements[:], e)
	if e.size == 0 || code < 0 {
		return &Error{Msg: fmt.Sprintf("elements of type %v have no place in an IDX file; there are uint8, int8, int16, int32, float32 and float64", t.Dtype())}
	}
	start := []byte{0, 0, byte(code), byte(t.Dims())}
	for _, size := range t.Shape() {
		if int64(size) > math.MaxUint32 {
			return &Error{Msg: fmt.Sprintf("an axis of %d is too long for an IDX file", size)}
		}
		start = binary.BigEndian.AppendUint32(start, uint32(size))
	}
	if _, err := w.Write(start); err != nil {
		return err
	}
	return writeElements(w, e, true, t.Shape().TotalSize(), put)
}
