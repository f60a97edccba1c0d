package onnxruntime

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
)

// ElementType is the type of an array's elements, numbered as in ONNX's TensorProto.
type ElementType int

// The element types of arrays. ONNX has more, such as strings; a model that has them as inputs or
// results loads, but does not run.
const (
	Float32  ElementType = 1
	Uint8    ElementType = 2
	Int8     ElementType = 3
	Uint16   ElementType = 4
	Int16    ElementType = 5
	Int32    ElementType = 6
	Int64    ElementType = 7
	Bool     ElementType = 9
	Float16  ElementType = 10
	Float64  ElementType = 11
	Uint32   ElementType = 12
	Uint64   ElementType = 13
	BFloat16 ElementType = 16
)

// elements are the types by number, with the bytes of an element; those without size are named in
// errors only.
var elements = [...]struct {
	name string
	size int
	of   graph.DType // the type of graphs with the same elements
}{
	Float32: {"float32", 4, graph.F32}, Uint8: {"uint8", 1, graph.U8}, Int8: {"int8", 1, graph.I8}, Uint16: {"uint16", 2, 0},
	Int16: {"int16", 2, 0}, Int32: {"int32", 4, graph.I32}, Int64: {"int64", 8, graph.I64}, 8: {"string", 0, 0}, Bool: {"bool", 1, graph.Bool},
	Float16: {"float16", 2, graph.F16}, Float64: {"float64", 8, graph.F64}, Uint32: {"uint32", 4, 0}, Uint64: {"uint64", 8, 0},
	14: {"complex64", 0, 0}, 15: {"complex128", 0, 0}, BFloat16: {"bfloat16", 2, graph.BF16},
}

// String returns the type's name: float32, bfloat16, int64, bool.
func (t ElementType) String() string {
	if t > 0 && int(t) < len(elements) && elements[t].name != "" {
		return elements[t].name
	}
	return fmt.Sprintf("element type %d", int(t))
}

// Size returns the number of bytes of an element, 0 for a type of which there are no arrays here.
func (t ElementType) Size() int {
	if t <= 0 || int(t) >= len(elements) {
		return 0
	}
	return elements[t].size
}

// DType returns the type of graphs that has the same elements; graph.InvalidDType if there is none.
func (t ElementType) DType() graph.DType {
	if t <= 0 || int(t) >= len(elements) {
		return graph.InvalidDType
	}
	return elements[t].of
}

// ElementOf returns the element type that has the elements of a graph's type, 0 for an invalid one.
func ElementOf(dt graph.DType) ElementType {
	for t, e := range elements {
		if dt.IsValid() && e.of == dt {
			return ElementType(t)
		}
	}
	return 0
}
