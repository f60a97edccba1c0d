package gorgonia

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// gorgonia computes with float32 and float64 only. A mask is there an array of
// the numbers 0 and 1, of the float type it was compared in or is used with.

// floatType returns gorgonia's name of a float type.
func floatType(dt graph.DType) tensor.Dtype {
	if dt == graph.F32 {
		return tensor.Float32
	}
	return tensor.Float64
}

// bindable returns a tensor as a value for gorgonia, of type dt if the tensor is a mask. The value
// shares the tensor's elements, but has a header of its own, as gorgonia writes into headers.
func bindable(name string, want graph.Type, dt graph.DType, t *tensor.Dense) (G.Value, error) {
	if t == nil || t.Dtype().Type == nil {
		return nil, fmt.Errorf("%s: want a tensor of type %v, got none", name, want)
	}
	if !slices.Equal(t.Shape(), want.Shape.Sizes()) {
		return nil, fmt.Errorf("%s: want shape %v, got %v", name, want.Shape, t.Shape())
	}
	if t.RequiresIterator() || !t.DataOrder().IsRowMajor() {
		c, ok := t.Materialize().(*tensor.Dense)
		if !ok || c.RequiresIterator() || !c.DataOrder().IsRowMajor() {
			return nil, fmt.Errorf("%s: want a row-major tensor: Clone it first", name)
		}
		t = c
	}
	switch {
	case want.DType == graph.F32 && t.Dtype() == tensor.Float32:
		return over(t.Float32s(), want.Shape), nil
	case want.DType == graph.F64 && t.Dtype() == tensor.Float64:
		return over(t.Float64s(), want.Shape), nil
	case want.DType == graph.Bool && t.Dtype() == tensor.Bool:
		m := graph.NewValue(graph.Type{DType: dt, Shape: want.Shape})
		for i, b := range t.Bools() {
			if b {
				m.Data[i] = 1
			}
		}
		return constant(m), nil
	}
	return nil, fmt.Errorf("%s: want elements of type %v, got %v", name, want.DType, t.Dtype())
}

// constant returns a float array as a value for gorgonia.
func constant(v graph.Value) G.Value {
	if t := tape.Tensor(v); v.Type.DType == graph.F32 {
		return over(t.Float32s(), v.Type.Shape)
	} else {
		return over(t.Float64s(), v.Type.Shape)
	}
}

// over returns a value over elements; of rank 0 it is one of gorgonia's scalars.
func over[T float32 | float64](elements []T, s graph.Shape) G.Value {
	if s.Rank() == 0 {
		return scalar(elements[0])
	}
	return tensor.New(tensor.WithShape(s.Sizes()...), tensor.WithBacking(elements))
}

func scalar[T float32 | float64](x T) G.Value {
	if f, ok := any(x).(float32); ok {
		return G.NewF32(f)
	}
	return G.NewF64(float64(x))
}

// elements reads a value in row-major order.
func elements(v G.Value) ([]float64, error) {
	switch x := v.Data().(type) {
	case float64:
		return []float64{x}, nil
	case float32:
		return []float64{float64(x)}, nil
	case []float64:
		return x, nil
	case []float32:
		out := make([]float64, len(x))
		for i, e := range x {
			out[i] = float64(e)
		}
		return out, nil
	}
	return nil, fmt.Errorf("it computed a %T", v.Data())
}

// reshaped returns v in the shape s, which may be that of a scalar. It is an error if v has another
// number of elements, or does not hold them in row-major order.
func reshaped(v G.Value, s tensor.Shape) (G.Value, error) {
	if v == nil || v.Shape().TotalSize() != s.TotalSize() {
		return nil, fmt.Errorf("it computed %v, not shape %v", v, s)
	}
	t, isTensor := v.(*tensor.Dense)
	switch {
	case isTensor && (t.RequiresIterator() || !t.DataOrder().IsRowMajor()):
		return nil, fmt.Errorf("its result of shape %v is not row-major", t.Shape())
	case isTensor == (len(s) > 0) && slices.Equal(v.Shape(), s):
		return v, nil
	}
	x, err := elements(v)
	if err != nil {
		return nil, err
	}
	sh, err := graph.NewShape(graph.Dims(s...)...)
	if err != nil {
		return nil, err
	}
	dt := graph.F64
	if v.Dtype() == tensor.Float32 {
		dt = graph.F32
	}
	return constant(graph.Value{Type: graph.Type{DType: dt, Shape: sh}, Data: x}), nil
}

// fetched returns a copy of gorgonia's value as a tensor of type t.
func fetched(v G.Value, t graph.Type) (*tensor.Dense, error) {
	x, err := elements(v)
	if err != nil {
		return nil, err
	}
	if len(x) != t.Shape.Len() {
		return nil, fmt.Errorf("it computed %d elements", len(x))
	}
	return tape.Tensor(graph.Value{Type: t, Data: x}), nil
}
