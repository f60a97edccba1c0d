package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/internal/vacant"
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
	converted("BF16", 2, func(b []byte) (float32, bool) { return half.Brain(binary.LittleEndian.Uint16(b)), true }),
	converted("F16", 2, func(b []byte) (float32, bool) { return half.Float32(binary.LittleEndian.Uint16(b)), true }),
	converted("U16", 2, func(b []byte) (int32, bool) { return int32(binary.LittleEndian.Uint16(b)), true }),
	converted("I16", 2, func(b []byte) (int32, bool) { return int32(int16(binary.LittleEndian.Uint16(b))), true }),
	stored[int8]("I8", 1),
	stored[uint8]("U8", 1),
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

// told returns the type of the file for [Tensor.DType]: one that the elements in memory do not tell.
func told(dtype string) string {
	switch dtype {
	case "F16", "BF16", "I8", "U8":
		return dtype
	}
	return ""
}

// encode returns the name of a tensor's type and its encoder, or what is wrong with the tensor. It
// copies the tensor only if it is not row-major without gaps. The type as is the one that is asked
// for; "" is that of the elements.
func encode(t *tensor.Dense, as string) (name string, e encoder, wrong string) {
	if t == nil || t.Dtype().Type == nil {
		return "", nil, "the tensor is nil"
	}
	if len(t.Mask()) > 0 {
		return "", nil, "the tensor is masked, which the format cannot say"
	}
	if !vacant.Is(t) && (t.RequiresIterator() || !t.DataOrder().IsRowMajor()) {
		t, _ = t.Materialize().(*tensor.Dense)
		if t == nil || t.RequiresIterator() || !t.DataOrder().IsRowMajor() {
			return "", nil, "want a row-major tensor, got a column-major one"
		}
	}
	if e, ok := t.Engine().(interface{ BitsOf() string }); ok && as == "" {
		as = strings.ToUpper(e.BitsOf())
	}
	if as != "" {
		name, e, wrong = encodeAs(t, as)
	} else {
		name, e, wrong = encodeOwn(t)
	}
	if wrong == "" && vacant.Is(t) {
		e = func(io.Writer, []byte) error { return nil }
	}
	return name, e, wrong
}

// encodeOwn returns the encoder to the type that the elements tell.
func encodeOwn(t *tensor.Dense) (name string, e encoder, wrong string) {
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
	case tensor.Int8:
		return "I8", elements(t.Int8s(), 1), ""
	case tensor.Uint8:
		return "U8", elements(t.Uint8s(), 1), ""
	case tensor.Uint16:
		return "", nil, "elements of uint16: say with DType whether they are the bits of F16 or of BF16"
	}
	return "", nil, "want elements of float64, float32, int64, int32, int8, uint8 or bool, got " + t.Dtype().String()
}

// encodeAs returns the encoder to a type that elements do not tell: numbers of float32 are rounded
// to F16 or BF16, uint16 are their bits; integers must fit.
func encodeAs(t *tensor.Dense, as string) (name string, e encoder, wrong string) {
	switch {
	case told(as) == "":
		return "", nil, "DType " + strconv.Quote(as) + ": want F16, BF16, I8, U8 or nothing"
	case as == "F16" && t.Dtype() == tensor.Float32:
		return as, rounded(t.Float32s(), half.Bits), ""
	case as == "BF16" && t.Dtype() == tensor.Float32:
		return as, rounded(t.Float32s(), half.BrainBits), ""
	case (as == "F16" || as == "BF16") && t.Dtype() == tensor.Uint16:
		return as, elements(t.Uint16s(), 2), ""
	case as == "I8" && t.Dtype() == tensor.Int8:
		return as, elements(t.Int8s(), 1), ""
	case as == "U8" && t.Dtype() == tensor.Uint8:
		return as, elements(t.Uint8s(), 1), ""
	case (as == "I8" || as == "U8") && t.Dtype() == tensor.Int32:
		least, greatest := int32(math.MinInt8), int32(math.MaxInt8)
		if as == "U8" {
			least, greatest = 0, math.MaxUint8
		}
		for i, v := range t.Int32s() {
			if v < least || v > greatest {
				return "", nil, fmt.Sprintf("element %d, %d, does not fit %s", i, v, as)
			}
		}
		return as, rounded(t.Int32s(), func(v int32) uint8 { return uint8(v) }), ""
	}
	return "", nil, "elements of " + t.Dtype().String() + " are not written as " + as
}

// rounded encodes elements that are converted, a part at a time.
func rounded[T any, B uint8 | uint16](s []T, convert func(T) B) encoder {
	return func(w io.Writer, buf []byte) error {
		part := make([]B, 0, 4096)
		for from := range slices.Chunk(s, cap(part)) {
			part = part[:0]
			for _, v := range from {
				part = append(part, convert(v))
			}
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
