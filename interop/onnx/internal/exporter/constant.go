package exporter

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

var elems = map[graph.DType]format.DataType{
	graph.F32: format.Float, graph.F64: format.Double, graph.F16: format.Float16, graph.BF16: format.BFloat16,
	graph.I32: format.Int32, graph.I64: format.Int64, graph.I8: format.Int8, graph.U8: format.Uint8, graph.Bool: format.Bool,
}

func elemOf(dt graph.DType) format.DataType { return elems[dt] }

// encode returns numbers as the bytes of a type.
func encode(elem format.DataType, data []float64) []byte {
	b := make([]byte, 0, len(data)*elem.Size())
	for _, x := range data {
		switch elem {
		case format.Float:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		case format.Double:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		case format.Float16:
			b = binary.LittleEndian.AppendUint16(b, half.Bits(float32(x)))
		case format.BFloat16:
			b = binary.LittleEndian.AppendUint16(b, half.BrainBits(float32(x)))
		case format.Int32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(x)))
		case format.Int64:
			b = binary.LittleEndian.AppendUint64(b, uint64(graph.I64.Whole(x)))
		default:
			b = append(b, byte(int64(x)))
		}
	}
	return b
}

// tensorOf returns numbers as a tensor of a type.
func tensorOf(name string, t graph.Type, data []float64) *format.Tensor {
	elem := elemOf(t.DType)
	return &format.Tensor{Name: name, Type: elem, Dims: wide(t.Shape.Sizes()), Raw: format.Bytes(encode(elem, data))}
}

// array returns a constant; equal ones are one.
func (e *emitter) array(name string, elem format.DataType, dims []int, data []float64) value {
	raw := encode(elem, data)
	key := fmt.Sprintf("%v%v%s", elem, dims, raw)
	have, ok := e.constants[key]
	if !ok {
		have = unique(e.taken, "const/"+name)
		e.constants[key] = have
		e.isConstant[have] = true
		e.inits = append(e.inits, &format.Tensor{Name: have, Type: elem, Dims: wide(dims), Raw: format.Bytes(raw)})
	}
	return value{name: have, elem: elem, dims: dims}
}

// lit returns a scalar.
func (e *emitter) lit(elem format.DataType, x float64) value {
	bits := 64
	if elem == format.Float {
		bits = 32
	}
	return e.array(strconv.FormatFloat(x, 'g', -1, bits), elem, nil, []float64{x})
}

// ints returns a list of integers, as attributes that are operands have them.
func (e *emitter) ints(v ...int) value {
	data := make([]float64, len(v))
	for i, x := range v {
		data[i] = float64(x)
	}
	return e.array(fmt.Sprint(v), format.Int64, []int{len(v)}, data)
}

// empty returns an array without elements.
func (e *emitter) empty(elem format.DataType, dims []int) value {
	return e.array("empty", elem, dims, nil)
}

// constantNode returns a constant of the graph: a scalar where all elements are the same.
func (e *emitter) constantNode(n *graph.Node) value {
	c, _ := n.Constant()
	elem, dims := elemOf(n.DType().Wide()), n.Shape().Sizes()
	if len(c.Data) > 0 && !slices.ContainsFunc(c.Data, func(x float64) bool { return math.Float64bits(x) != math.Float64bits(c.Data[0]) }) {
		return e.lit(elem, c.Data[0])
	}
	name := n.Name()
	if name == "" {
		name = "array"
	}
	return e.array(name, elem, dims, c.Data)
}

// stream returns a tensor whose bytes are made when they are written.
func stream(name string, t graph.Type, from *tensor.Dense) (*format.Tensor, error) {
	a, err := tape.ArrayOf(t, from)
	if err != nil {
		return nil, err
	}
	elem := elemOf(t.DType)
	n := t.Shape.Len()
	raw := format.Stream(int64(n)*int64(elem.Size()), func() (io.Reader, error) { return &elements{of: a, n: n}, nil })
	return &format.Tensor{Name: name, Type: elem, Dims: wide(t.Shape.Sizes()), Raw: raw}, nil
}

// elements reads the bytes of an array, some thousand elements at a time.
type elements struct {
	of    tape.Array
	at, n int
	rest  []byte
}

func (r *elements) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.at == r.n {
			return 0, io.EOF
		}
		to := min(r.n, r.at+4096)
		r.rest = bytesOf(r.rest[:0], r.of, r.at, to)
		r.at = to
	}
	k := copy(p, r.rest)
	r.rest = r.rest[k:]
	return k, nil
}

// bytesOf appends elements from to to, without it.
func bytesOf(b []byte, a tape.Array, from, to int) []byte {
	for i := from; i < to; i++ {
		switch a.Type.DType {
		case graph.F32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(a.F32[i]))
		case graph.F64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(a.F64[i]))
		case graph.I32:
			b = binary.LittleEndian.AppendUint32(b, uint32(a.I32[i]))
		case graph.I64:
			b = binary.LittleEndian.AppendUint64(b, uint64(a.I64[i]))
		case graph.F16, graph.BF16:
			b = binary.LittleEndian.AppendUint16(b, a.Half[i])
		case graph.I8:
			b = append(b, byte(a.I8[i]))
		case graph.U8:
			b = append(b, a.U8[i])
		default:
			x := byte(0)
			if a.Bool[i] {
				x = 1
			}
			b = append(b, x)
		}
	}
	return b
}
