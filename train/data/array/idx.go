package array

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/train/data/internal/encoding"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// OpenIDX reads the file at path, as [ReadIDX] does.
func OpenIDX(path string, opts ...input.Option) (*tensor.Dense, error) {
	return input.Open(path, ReadIDX, opts)
}

// ReadIDX reads an array in the format of MNIST (http://yann.lecun.com/exdb/mnist/), which gzip may
// have compressed: two zero bytes, the type, the number of axes, the sizes and the elements, all
// big endian. Errors call the file name. Bytes, such as pixels and labels, become a tensor of uint8 or
// int8, other integers one of int32; floating-point numbers keep their type. An array of more than 8
// axes, and bytes after the array, are *Errors. It takes MaxBytes and MaxCells.
func ReadIDX(name string, r io.Reader, opts ...input.Option) (*tensor.Dense, error) {
	b, err := input.NewUnpacked(name, r, input.NewConfig(input.Arrays, opts))
	if err != nil {
		return nil, err
	}
	l, err := encoding.ReadIDXHeader(b)
	if err != nil {
		return nil, err
	}
	return encoding.ReadTensor(b, l)
}

// WriteIDX writes t in the format of MNIST, not compressed. Elements are of uint8, as pixels are,
// int8, int16, int32, float32 or float64; another type and a column-major tensor are *Errors.
func WriteIDX(w io.Writer, t *tensor.Dense) error {
	if w == nil {
		return input.NoWriter()
	}
	t, err := encoding.Gapless(t)
	if err != nil {
		return err
	}
	if t.Dims() > 1 && t.DataOrder().IsColMajor() {
		return &input.Error{Msg: "the tensor is column-major; an IDX file is row-major"}
	}
	e, put, _ := encoding.Encoder(t)
	code := slices.Index(encoding.IDXElements[:], e)
	if e.Size == 0 || code < 0 {
		return &input.Error{Msg: fmt.Sprintf("elements of type %v have no place in an IDX file; there are uint8, int8, int16, int32, float32 and float64", t.Dtype())}
	}
	start := []byte{0, 0, byte(code), byte(t.Dims())}
	for _, size := range t.Shape() {
		if int64(size) > math.MaxUint32 {
			return &input.Error{Msg: fmt.Sprintf("an axis of %d is too long for an IDX file", size)}
		}
		start = binary.BigEndian.AppendUint32(start, uint32(size))
	}
	if _, err := w.Write(start); err != nil {
		return err
	}
	return encoding.WriteElements(w, e, true, t.Shape().TotalSize(), put)
}
