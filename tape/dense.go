package tape

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/vacant"
	"gorgonia.org/tensor"
)

// Scalar is a tensor of one number for feeding a scalar input: γ, a learning rate. A number that
// the type does not hold is a mistake, as for [Tensor].
func Scalar(dt graph.DType, v float64) *tensor.Dense {
	return tensorOf("Scalar", graph.Value{Type: graph.Type{DType: dt}, Data: []float64{v}})
}

// Tensor is a dense tensor of the given type over a copy of row-major data. Data that are not as
// many as the shape asks for, have no element type, or do not fit it ([graph.DType.Check]: 0.5 or
// NaN as an integer, 1e39 as f32) are a mistake, which whatever takes the tensor refuses, at the
// line of this call: a run that is fed it, [Store.Set], [Store.Add], [ArrayOf].
//
// A tensor of f16 or bf16 has elements of type uint16, which are the bits of the numbers: gorgonia
// has no such floats. Tensor rounds numbers to them, [ArrayOf] and [Array.At] read them again, and
// [HalfBits] takes bits. A tensor without elements has the shape that says so, but gorgonia's have at
// least one: Data gives one that does not count; [VM.Floats] and [ArrayOf] go by the shape. Where f16 or bf16 is wanted, any tensor of uint16 is taken for such bits.
func Tensor(v graph.Value) *tensor.Dense { return tensorOf("Tensor", v) }

// Tensors returns a feed of a copy of the values, such as a batch of a model's examples. A value
// that is no array of its type is a mistake, as for [Tensor]. No values, nil, are an empty feed.
func Tensors(values graph.Values) Feed {
	feed := make(Feed, len(values))
	for n, v := range values {
		feed[n] = Tensor(v)
	}
	return feed
}

// Values returns the numbers of a feed in float64: what [Tensors] takes. A tensor that the node does
// not take is an error, as when a run is fed it.
func (f Feed) Values() (graph.Values, error) {
	out := make(graph.Values, len(f))
	for n, t := range f {
		if n == nil || n.Graph() == nil {
			return nil, errors.New("feed: a node is nil")
		}
		a, err := ArrayOf(n.Type(), t)
		if err != nil {
			return nil, fmt.Errorf("%v %s: %w", n.Role(), n.Path(), err)
		}
		out[n] = a.Value()
	}
	return out, nil
}

// tensorOf returns the tensor of a value, or the mistake of a call.
func tensorOf(call string, v graph.Value) *tensor.Dense {
	var wrong error
	switch n := v.Type.Shape.Len(); {
	case !v.Type.DType.IsValid():
		wrong = fmt.Errorf("a value without an element type: want f32, f64, f16, bf16, i32, i64, i8, u8 or bool")
	case len(v.Data) != n:
		wrong = fmt.Errorf("the number of values for %v is %d, want %d", v.Type, len(v.Data), n)
	default:
		wrong = v.Type.DType.Check(v.Data...)
	}
	if wrong != nil {
		return mistaken(call, wrong, v.Data)
	}
	return denseOver(v.Type, memOf(v))
}

// bits is the engine of a tensor of uint16 that holds the bits of f16 or of bf16: it computes as any
// does, and tells which.
type bits struct {
	tensor.StdEng
	dtype graph.DType
}

// BitsOf returns f16 or bf16, for packages that write tensors to files.
func (b bits) BitsOf() string { return b.dtype.String() }

// HalfBits returns a dense tensor of the type, f16 or bf16, over the bits of its numbers, row-major
// and not copied. Another type, or another number of elements than its shape has, is a mistake as of
// [Tensor].
func HalfBits(t graph.Type, list []uint16) *tensor.Dense {
	var wrong error
	switch {
	case !t.DType.IsHalf():
		wrong = fmt.Errorf("bits of type %v: want f16 or bf16", t.DType)
	case len(list) != t.Shape.Len():
		wrong = fmt.Errorf("the number of values for %v is %d, want %d", t, len(list), t.Shape.Len())
	}
	if wrong != nil {
		return mistaken("HalfBits", wrong, make([]float64, len(list)))
	}
	return denseOver(t, kernel.Of(list))
}

// mistake is the engine of a tensor that was asked for by mistake: it computes as any does, and
// says what is wrong.
type mistake struct {
	tensor.StdEng
	err error
}

// mistaken returns a list of the data that bears the mistake of a call at the user's line.
func mistaken(call string, err error, data []float64) *tensor.Dense {
	g := graph.New("")
	g.Fail(call, err)
	data = append(slices.Clone(data), make([]float64, max(0, 1-len(data)))...) // a tensor has elements
	return tensor.New(tensor.WithShape(len(data)), tensor.WithBacking(data), tensor.WithEngine(mistake{err: g.Err()}))
}

// memOf returns a value's elements in their own type.
func memOf(v graph.Value) kernel.Mem {
	m := kernel.Alloc(len(v.Data) * v.Type.DType.Size())
	switch v.Type.DType {
	case graph.F32:
		fill(kernel.As[float32](m), v.Data)
	case graph.F64:
		fill(kernel.As[float64](m), v.Data)
	case graph.I32:
		for i, x := range v.Data {
			kernel.As[int32](m)[i] = int32(graph.I32.Whole(x))
		}
	case graph.I64:
		for i, x := range v.Data {
			kernel.As[int64](m)[i] = graph.I64.Whole(x)
		}
	default:
		a := arrayOf(v.Type, m)
		for i, x := range v.Data {
			a.Set(i, x)
		}
	}
	return m
}

func fill[T float32 | float64](to []T, from []float64) {
	for i, x := range from {
		to[i] = T(x)
	}
}

// denseOver returns a tensor over memory, without a copy.
func denseOver(t graph.Type, m kernel.Mem) *tensor.Dense {
	if t.Shape.Len() == 0 {
		return empty(t)
	}
	shape := tensor.WithShape(t.Shape.Sizes()...)
	scalar := t.Shape.Rank() == 0
	switch t.DType {
	case graph.F32:
		return dense(shape, scalar, kernel.As[float32](m))
	case graph.F64:
		return dense(shape, scalar, kernel.As[float64](m))
	case graph.I32:
		return dense(shape, scalar, kernel.As[int32](m))
	case graph.I64:
		return dense(shape, scalar, kernel.As[int64](m))
	case graph.F16, graph.BF16:
		if scalar {
			shape = tensor.WithShape()
		}
		return tensor.New(shape, tensor.WithBacking(kernel.As[uint16](m)), tensor.WithEngine(bits{dtype: t.DType}))
	case graph.I8:
		return dense(shape, scalar, kernel.As[int8](m))
	case graph.U8:
		return dense(shape, scalar, kernel.As[uint8](m))
	}
	return dense(shape, scalar, kernel.As[bool](m))
}

// empty returns a tensor without elements.
func empty(t graph.Type) *tensor.Dense {
	switch t.DType {
	case graph.F32:
		return vacant.Dense(tensor.Float32, t.Shape.Sizes())
	case graph.F64:
		return vacant.Dense(tensor.Float64, t.Shape.Sizes())
	case graph.I32:
		return vacant.Dense(tensor.Int32, t.Shape.Sizes())
	case graph.I64:
		return vacant.Dense(tensor.Int64, t.Shape.Sizes())
	case graph.F16, graph.BF16:
		return vacant.Dense(tensor.Uint16, t.Shape.Sizes(), tensor.WithEngine(bits{dtype: t.DType}))
	case graph.I8:
		return vacant.Dense(tensor.Int8, t.Shape.Sizes())
	case graph.U8:
		return vacant.Dense(tensor.Uint8, t.Shape.Sizes())
	}
	return vacant.Dense(tensor.Bool, t.Shape.Sizes())
}

func dense[T any](shape tensor.ConsOpt, scalar bool, s []T) *tensor.Dense {
	if scalar {
		return tensor.New(tensor.WithShape(), tensor.WithBacking(s))
	}
	return tensor.New(shape, tensor.WithBacking(s))
}

// memOfDense returns the memory of a tensor that must have the given type; an
// array that is not dense, such as a transposed view, is copied first.
func memOfDense(want graph.Type, t *tensor.Dense) (kernel.Mem, error) {
	if t == nil || t.Dtype().Type == nil {
		return kernel.Mem{}, fmt.Errorf("want a tensor of type %v, got nil", want)
	}
	if bad, ok := t.Engine().(mistake); ok {
		return kernel.Mem{}, bad.err
	}
	got := dtypeOf(t)
	convert := got != want.DType && want.DType.IsInt() && isWhole(t) && (got == graph.InvalidDType || got.IsInt())
	switch {
	case got == want.DType || convert || untold(t) && want.DType.IsHalf():
	case got == graph.F32 && want.DType.IsHalf():
		convert = true
	case got != graph.InvalidDType:
		return kernel.Mem{}, errType(want.DType, got, t)
	case isWhole(t):
		return kernel.Mem{}, fmt.Errorf("want elements of type %v, got %v (tape.Of converts numbers)", want.DType, t.Dtype())
	default:
		return kernel.Mem{}, errElements(t)
	}
	if t.IsMasked() && !vacant.Is(t) {
		return kernel.Mem{}, fmt.Errorf("want a tensor without a mask: what its mask hides would count (feed the mask as an input of its own)")
	}
	shape := t.Shape()
	same := len(shape) == want.Shape.Rank()
	for i := 0; same && i < len(shape); i++ {
		same = shape[i] == want.Shape.Dim(i)
	}
	if !same {
		if given, wanted := shape.TotalSize(), want.Shape.Len(); given != wanted {
			return kernel.Mem{}, fmt.Errorf("want shape %v, got %v: the number of values is %d, want %d", want.Shape, shape, given, wanted)
		}
		return kernel.Mem{}, fmt.Errorf("want shape %v, got %v", want.Shape, shape)
	}
	if want.Shape.Len() == 0 {
		return kernel.Mem{}, nil
	}
	if convert && want.DType.IsHalf() {
		return halves(want, t)
	}
	if convert {
		return wholes(want, t)
	}
	if !t.DataOrder().IsRowMajor() {
		return laidOut(want, t)
	}
	if t.RequiresIterator() {
		c, ok := t.Materialize().(*tensor.Dense)
		if !ok || c.RequiresIterator() || !c.DataOrder().IsRowMajor() {
			return laidOut(want, t)
		}
		t = c
	}
	switch want.DType {
	case graph.F32:
		return kernel.Of(t.Float32s()), nil
	case graph.F64:
		return kernel.Of(t.Float64s()), nil
	case graph.I32:
		return kernel.Of(t.Int32s()), nil
	case graph.I64:
		return kernel.Of(t.Int64s()), nil
	case graph.F16, graph.BF16:
		return kernel.Of(t.Uint16s()), nil
	case graph.I8:
		return kernel.Of(t.Int8s()), nil
	case graph.U8:
		return kernel.Of(t.Uint8s()), nil
	}
	return kernel.Of(t.Bools()), nil
}

// halves returns the numbers of a tensor of float32 as those of a type of two bytes, or an error for
// the first that it does not hold. The shapes are equal.
func halves(want graph.Type, t *tensor.Dense) (kernel.Mem, error) {
	from, err := memOfDense(graph.Type{DType: graph.F32, Shape: want.Shape}, t)
	if err != nil {
		return kernel.Mem{}, err
	}
	m := kernel.Alloc(want.Shape.Len() * want.DType.Size())
	to := arrayOf(want, m)
	for p, x := range kernel.As[float32](from) {
		if to.Set(p, float64(x)); x == x && float32(to.At(p)) != x {
			return kernel.Mem{}, fmt.Errorf("want elements of type %v, got float32, of which element %d, %v, would be rounded (make the input f32 and ops.Cast it, round numbers with tape.Tensor, or give their bits with tape.HalfBits)", want.DType, p, x)
		}
	}
	return m, nil
}

// laidOut copies the elements of a tensor that do not lie row-major without gaps, such as a
// slice, a transposed or a column-major one.
func laidOut(want graph.Type, t *tensor.Dense) (kernel.Mem, error) {
	m := kernel.Alloc(want.Shape.Len() * want.DType.Size())
	a, sizes := arrayOf(want, m), t.Shape()
	ix := make([]int, len(sizes))
	for p := range want.Shape.Len() {
		v, err := t.At(position(ix, p, sizes)...)
		if err != nil {
			return kernel.Mem{}, fmt.Errorf("element %v cannot be read: %w", ix, err)
		}
		switch v := v.(type) {
		case float32:
			a.F32[p] = v
		case float64:
			a.F64[p] = v
		case int32:
			a.I32[p] = v
		case int64:
			a.I64[p] = v
		case bool:
			a.Bool[p] = v
		case uint16:
			a.Half[p] = v
		case int8:
			a.I8[p] = v
		case uint8:
			a.U8[p] = v
		}
	}
	return m, nil
}

// errType says that a tensor has elements of another type than it is wanted for.
func errType(want, got graph.DType, t *tensor.Dense) error {
	switch {
	case want.IsHalf():
		return fmt.Errorf("want elements of type %v, got %v (round numbers with tape.Tensor, or give their bits with tape.HalfBits)", want, got)
	case untold(t):
		return fmt.Errorf("want elements of type %v, got uint16, the bits of f16 or bf16", want)
	}
	return fmt.Errorf("want elements of type %v, got %v (tape.Of converts numbers)", want, got)
}

// errElements says that no graph has such elements.
func errElements(t *tensor.Dense) error {
	fix := ""
	if isWhole(t) {
		fix = " (give []int32 for i32, []int64 for i64)"
	}
	return fmt.Errorf("elements of type %v: want float32, float64, int32, int64, int8, uint8 or bool%s", t.Dtype(), fix)
}

// ArrayOf is the memory of a tensor, which must have the given type, or hold integers for an integer
// type ([Feed]); it is not copied, unless its elements are converted so, or do not lie row-major
// without gaps.
func ArrayOf(want graph.Type, t *tensor.Dense) (Array, error) {
	m, err := memOfDense(want, t)
	if err != nil {
		return Array{}, err
	}
	return arrayOf(want, m), nil
}

// untold reports whether a tensor holds the bits of f16 or bf16, but does not say of which.
func untold(t *tensor.Dense) bool {
	_, told := t.Engine().(bits)
	return t.Dtype() == tensor.Uint16 && !told
}

func dtypeOf(t *tensor.Dense) graph.DType {
	switch t.Dtype() {
	case tensor.Float32:
		return graph.F32
	case tensor.Float64:
		return graph.F64
	case tensor.Int32:
		return graph.I32
	case tensor.Int64:
		return graph.I64
	case tensor.Bool:
		return graph.Bool
	case tensor.Uint16:
		if e, told := t.Engine().(bits); told {
			return e.dtype
		}
		return graph.F16 // or BF16, see untold
	case tensor.Int8:
		return graph.I8
	case tensor.Uint8:
		return graph.U8
	}
	return graph.InvalidDType
}
