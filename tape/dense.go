package tape

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"gorgonia.org/tensor"
)

// Scalar is a tensor of one number for feeding a scalar input: γ, a learning rate.
func Scalar(dt graph.DType, v float64) *tensor.Dense {
	return denseOver(graph.Type{DType: dt}, memOf(graph.Value{Type: graph.Type{DType: dt}, Data: []float64{dt.Round(v)}}))
}

// Tensor is a dense tensor of the given type over a copy of row-major data; nil,
// which no run takes, where the data are not as many as the shape asks for.
func Tensor(v graph.Value) *tensor.Dense {
	if len(v.Data) != v.Type.Shape.Len() {
		return nil
	}
	return denseOver(v.Type, memOf(v))
}

// memOf is a value's elements in their own type.
func memOf(v graph.Value) kernel.Mem {
	m := kernel.Alloc(len(v.Data) * v.Type.DType.Size())
	switch v.Type.DType {
	case graph.F32:
		fill(kernel.As[float32](m), v.Data)
	case graph.F64:
		fill(kernel.As[float64](m), v.Data)
	case graph.I32:
		fill(kernel.As[int32](m), v.Data)
	case graph.I64:
		for i, x := range v.Data {
			if kernel.As[int64](m)[i] = int64(x); x >= math.MaxInt64 { // 2⁶³ as a float64, which no int64 is
				kernel.As[int64](m)[i] = math.MaxInt64
			}
		}
	case graph.Bool:
		for i, x := range v.Data {
			kernel.As[bool](m)[i] = x != 0
		}
	}
	return m
}

func fill[T float32 | float64 | int32](to []T, from []float64) {
	for i, x := range from {
		to[i] = T(x)
	}
}

// denseOver is a tensor over memory, without a copy.
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

// memOfDense is the memory of a tensor that must have the given type; an
// array that is not dense, such as a transposed view, is copied first.
func memOfDense(want graph.Type, t *tensor.Dense) (kernel.Mem, error) {
	if t == nil || t.Dtype().Type == nil {
		return kernel.Mem{}, fmt.Errorf("want a tensor of type %v, got nil", want)
	}
	if got := dtypeOf(t); got != want.DType {
		return kernel.Mem{}, fmt.Errorf("want elements of type %v, got %v", want.DType, t.Dtype())
	}
	shape := t.Shape()
	same := len(shape) == want.Shape.Rank()
	for i := 0; same && i < len(shape); i++ {
		same = shape[i] == want.Shape.Dim(i)
	}
	if !same {
		return kernel.Mem{}, fmt.Errorf("want shape %v, got %v", want.Shape, shape)
	}
	if t.RequiresIterator() || !t.DataOrder().IsRowMajor() {
		c, ok := t.Materialize().(*tensor.Dense)
		if !ok || c.RequiresIterator() || !c.DataOrder().IsRowMajor() {
			return kernel.Mem{}, fmt.Errorf("want a row-major tensor, got a column-major one")
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
