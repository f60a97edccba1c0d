package array

import (
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/train/data/internal/encoding"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// OpenNPY reads the file at path, as [ReadNPY] does.
func OpenNPY(path string, opts ...input.Option) (*tensor.Dense, error) {
	return input.Open(path, ReadNPY, opts)
}

// ReadNPY reads an array that NumPy saved, in format 1.0, 2.0 or 3.0, of either byte order, in
// row-major (C) or column-major (Fortran) order. Gzip may have compressed it. Errors call the file
// name. The tensor is row-major and has the nearest type that graphs have:
//
//	f2 f4          float32
//	f8             float64
//	b1             bool
//	i1 u1          int8 uint8
//	i2 u2 i4       int32
//	u4 i8 u8       int64
//
// An input of integers of any size takes any of them, and one of f16 or bf16 takes float32 whose
// numbers it holds, as those of f2 (tape.Feed). A number that does not fit is an *Error. So are other
// types (strings, records, complex numbers, and Python objects, which would have to be executed), more
// than 8 axes, and bytes after the array. It takes MaxBytes and MaxCells.
func ReadNPY(name string, r io.Reader, opts ...input.Option) (*tensor.Dense, error) {
	b, err := input.NewUnpacked(name, r, input.NewConfig(input.Arrays, opts))
	if err != nil {
		return nil, err
	}
	return readNPY(b)
}

func readNPY(b *input.Binary) (*tensor.Dense, error) {
	l, err := encoding.ReadNPYHeader(b)
	if err != nil {
		return nil, err
	}
	return encoding.ReadTensor(b, l)
}

// WriteNPY writes t as numpy.save does, byte for byte: in format 1.0, little endian, in t's own
// order. Elements are booleans, float32, float64, or integers of 8 to 64 bits, signed or not, or the
// bits of f16 (tape.HalfBits), which become f2; other types, bf16 among them, are *Errors. ReadNPY reads a tensor of a type that it returns back equal.
func WriteNPY(w io.Writer, t *tensor.Dense) error {
	if w == nil {
		return input.NoWriter()
	}
	t, err := encoding.Gapless(t)
	if err != nil {
		return err
	}
	e, put, ok := encoding.Encoder(t)
	if !ok {
		return &input.Error{Msg: fmt.Sprintf("elements of type %v have no place in a .npy file", t.Dtype())}
	}
	if _, err := w.Write(encoding.NPYHeader(e, t)); err != nil {
		return err
	}
	return encoding.WriteElements(w, e, false, t.Shape().TotalSize(), put)
}
