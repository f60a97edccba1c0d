package safetensors

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/half"
	"gorgonia.org/tensor"
)

// dtype is a type of elements: its size in bytes, and how n of them are read into a slice.
type dtype struct {
	name string
	size int64
	read func(s *source, n int) (elements any, err error)
}

// dtypes lists the types in the order in which their tensors are laid out: that of the published
// implementation, largest alignment first.
var dtypes = []dtype{
	converted("U64", 8, func(b []byte) (int64, bool) {
		v := binary.LittleEndian.Uint64(b)
		return int64(v), v <= math.MaxInt64
	}),
	stored[int64]("I64", 8),
	stored[float64]("F64", 8),
	stored[float32]("F32", 4),
	converted("U32", 4, func(b []byte) (int64, bool) { return int64(binary.LittleEndian.Uint32(b)), true }),
	stored[int32]("I32", 4),
	converted("BF16", 2, func(b []byte) (float32, bool) {
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16), true
	}),
	converted("F16", 2, func(b []byte) (float32, bool) { return half.Float32(binary.LittleEndian.Uint16(b)), true }),
	converted("U16", 2, func(b []byte) (int32, bool) { return int32(binary.LittleEndian.Uint16(b)), true }),
	converted("I16", 2, func(b []byte) (int32, bool) { return int32(int16(binary.LittleEndian.Uint16(b))), true }),
	converted("I8", 1, func(b []byte) (int32, bool) { return int32(int8(b[0])), true }),
	converted("U8", 1, func(b []byte) (int32, bool) { return int32(b[0]), true }),
	converted("BOOL", 1, func(b []byte) (bool, bool) { return b[0] == 1, b[0] <= 1 }),
}

// rank returns the index of a type in dtypes, -1 for another.
func rank(name string) int {
	return slices.IndexFunc(dtypes, func(d dtype) bool { return d.name == name })
}

// stored returns a type that is held as it is in the file.
func stored[T any](name string, size int) dtype {
	return of(name, size, func(to []T, from []byte) int {
		binary.Decode(from, binary.LittleEndian, to) // cannot fail: from has size bytes for each element
		return -1
	})
}

// converted returns a type that is held as T, converted element by element; some may not fit.
func converted[T any](name string, size int, element func(b []byte) (v T, fits bool)) dtype {
	return of(name, size, func(to []T, from []byte) int {
		for i := range to {
			v, fits := element(from[i*size : (i+1)*size])
			if !fits {
				return i
			}
			to[i] = v
		}
		return -1
	})
}

// of returns a type by its decoder, which returns the index of the first element that does not fit,
// or -1.
func of[T any](name string, size int, decode func(to []T, from []byte) (misfit int)) dtype {
	read := func(s *source, n int) (any, error) {
		most := len(s.buf) / size
		first := n
		if s.size < 0 {
			first = min(n, most) // no length vouches for n: memory grows with what arrives
		}
		to := make([]T, 0, first)
		for len(to) < n {
			have, k, at := len(to), min(n-len(to), most), s.offset
			if have+k > cap(to) {
				to = append(make([]T, 0, min(n, 2*cap(to))), to...)
			}
			from := s.buf[:k*size]
			if err := s.full(from); err != nil {
				return nil, err
			}
			to = to[:have+k]
			if i := decode(to[have:], from); i >= 0 {
				return nil, malformed(at+int64(i*size), "", "element %d has the bytes %x, which are not a %s that can be read", have+i, from[i*size:(i+1)*size], name)
			}
		}
		return to, nil
	}
	return dtype{name, int64(size), read}
}

// encoder writes a tensor's elements through buf.
type encoder func(w io.Writer, buf []byte) error

// encode returns the name of a tensor's type and its encoder, or what is wrong with the tensor. It
// copies the tensor only if it is not row-major without gaps.
func encode(t *tensor.Dense) (name string, e encoder, wrong string) {
	if t == nil || t.Dtype().Type == nil {
		return "", nil, "the tensor is nil"
	}
	if len(t.Mask()) > 0 {
		return "", nil, "the tensor is masked, which the format cannot say"
	}
	if t.Len() > 0 && (t.RequiresIterator() || !t.DataOrder().IsRowMajor()) {
		t, _ = t.Materialize().(*tensor.Dense)
		if t == nil || t.RequiresIterator() || !t.DataOrder().IsRowMajor() {
			return "", nil, "want a row-major tensor, got a column-major one"
		}
	}
	switch t.Dtype() {
	case tensor.Int64:
		return "I64", elements(t.Int64s(), 8), ""
	case tensor.Float64:
		return "F64", elements(t.Float64s(), 8), ""
	case tensor.Float32:
		return "F32", elements(t.Float32s(), 4), ""
	case tensor.Int32:
		return "I32", elements(t.Int32s(), 4), ""
	case tensor.Bool:
		return "BOOL", elements(t.Bools(), 1), ""
	}
	return "", nil, "want elements of float64, float32, int64, int32 or bool, got " + t.Dtype().String()
}

func elements[T any](s []T, size int) encoder {
	return func(w io.Writer, buf []byte) error {
		for part := range slices.Chunk(s, cap(buf)/size) {
			b, err := binary.Append(buf[:0], binary.LittleEndian, part)
			if err == nil {
				_, err = w.Write(b)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}
