package tape

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
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
func Tensor(v graph.Value) *tensor.Dense { return tensorOf("Tensor", v) }

// tensorOf returns the tensor of a value, or the mistake of a call.
func tensorOf(call string, v graph.Value) *tensor.Dense {
	var wrong error
	switch n := v.Type.Shape.Len(); {
	case v.Type.DType <= graph.InvalidDType || v.Type.DType > graph.Bool:
		wrong = fmt.Errorf("a value without an element type: want f32, f64, i32, i64 or bool")
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
	return tensor.New(tensor.WithShape(len(data)), tensor.WithBacking(slices.Clone(data)), tensor.WithEngine(mistake{err: g.Err()}))
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
	case graph.Bool:
		for i, x := range v.Data {
			kernel.As[bool](m)[i] = x != 0
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
	}
	return dense(shape, scalar, kernel.As[bool](m))
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
	if got := dtypeOf(t); got == graph.InvalidDType {
		return kernel.Mem{}, errElements(t)
	} else if got != want.DType {
		return kernel.Mem{}, fmt.Errorf("want elements of type %v, got %v", want.DType, got)
	}
	if t.IsMasked() {
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
	}
	return kernel.Of(t.Bools()), nil
}

// laidOut copies the elements of a tensor that do not lie row-major without gaps, such as a
// slice, a transposed or a column-major one.
func laidOut(want graph.Type, t *tensor.Dense) (kernel.Mem, error) {
	m := kernel.Alloc(want.Shape.Len() * want.DType.Size())
	a, sizes := arrayOf(want, m), t.Shape()
	ix := make([]int, len(sizes))
	for p := range want.Shape.Len() {
		for rest, k := p, len(sizes)-1; k >= 0; k-- {
			ix[k], rest = rest%sizes[k], rest/sizes[k]
		}
		v, err := t.At(ix...)
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
		}
	}
	return m, nil
}

// errElements says that no graph has such elements.
func errElements(t *tensor.Dense) error {
	fix := ""
	switch t.Dtype().Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint, reflect.Uint64:
		fix = " (give []int32 for i32, []int64 for i64)"
	}
	return fmt.Errorf("elements of type %v: want float32, float64, int32, int64 or bool%s", t.Dtype(), fix)
}

// ArrayOf is the memory of a tensor, which must have the given type; it is not
// copied, unless its elements do not lie row-major without gaps.
func ArrayOf(want graph.Type, t *tensor.Dense) (Array, error) {
	m, err := memOfDense(want, t)
	if err != nil {
		return Array{}, err
	}
	return arrayOf(want, m), nil
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
	}
	return graph.InvalidDType
}
