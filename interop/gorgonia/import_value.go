package gorgonia

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// arrayOf returns the numbers of one of gorgonia's values, as an array of the type want. The zero
// type stands for the value's own.
func arrayOf(v G.Value, want graph.Type) (graph.Value, error) {
	if v == nil {
		return graph.Value{}, fmt.Errorf("it has no value")
	}
	if t, ok := v.(*tensor.Dense); ok && (t.RequiresIterator() || !t.DataOrder().IsRowMajor()) {
		c, ok := t.Materialize().(*tensor.Dense)
		if !ok || c.RequiresIterator() || !c.DataOrder().IsRowMajor() {
			return graph.Value{}, fmt.Errorf("its value is not row-major: Clone it first")
		}
		v = c
	}
	data, err := numbersOf(v.Data())
	if err != nil {
		return graph.Value{}, err
	}
	if want.DType == graph.InvalidDType {
		if want.DType, err = dtypeOf(v.Dtype()); err != nil {
			return graph.Value{}, err
		}
		if want.Shape, err = graph.NewShape(graph.Dims(v.Shape()...)...); err != nil {
			return graph.Value{}, err
		}
	}
	if len(data) != want.Shape.Len() {
		return graph.Value{}, fmt.Errorf("its value has %d elements, and its shape is %v", len(data), want.Shape)
	}
	return graph.Value{Type: want, Data: data}, nil
}

// numbersOf returns a copy of a value's memory.
func numbersOf(data any) ([]float64, error) {
	switch x := data.(type) {
	case float64:
		return []float64{x}, nil
	case float32:
		return []float64{float64(x)}, nil
	case int:
		return []float64{float64(x)}, nil
	case int64:
		return []float64{float64(x)}, nil
	case int32:
		return []float64{float64(x)}, nil
	case uint8:
		return []float64{float64(x)}, nil
	case bool:
		return masked([]bool{x}), nil
	case []float64:
		return converted(x), nil
	case []float32:
		return converted(x), nil
	case []int:
		return converted(x), nil
	case []int64:
		return converted(x), nil
	case []int32:
		return converted(x), nil
	case []int8:
		return converted(x), nil
	case []uint8:
		return converted(x), nil
	case []bool:
		return masked(x), nil
	}
	return nil, fmt.Errorf("its value is a %T", data)
}

func converted[T float64 | float32 | int | int64 | int32 | int8 | uint8](x []T) []float64 {
	out := make([]float64, len(x))
	for i, e := range x {
		out[i] = float64(e)
	}
	return out
}

func masked(x []bool) []float64 {
	out := make([]float64, len(x))
	for i, e := range x {
		if e {
			out[i] = 1
		}
	}
	return out
}
