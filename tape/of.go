package tape

import (
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"gorgonia.org/tensor"
)

// Number is any of Go's types of real numbers.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Of returns a tensor of a node's type over a copy of numbers, row-major, to be fed to an input or
// set in a store:
//
//	tape.Feed{x: tape.Of(x, 0.5, 1, 2), label: tape.Of(label, classes...)}
//
// It rounds floats to the type's digits. Numbers that are not as many as the node has elements, or
// that its type does not hold, are a mistake, as for [Tensor]; so is a node without a type.
func Of[N Number](n *graph.Node, values ...N) *tensor.Dense {
	data := make([]float64, len(values))
	for i, x := range values {
		data[i] = float64(x)
	}
	if !n.IsValid() {
		return mistaken("Of", errors.New("the node is nil or a mistake, and has no type"), data)
	}
	v := graph.Value{Type: n.Type(), Data: data}
	if N(1)/2 != 0 || n.DType() != graph.I64 || len(values) != n.Shape().Len() {
		return tensorOf("Of", v)
	}
	m := kernel.Alloc(len(values) * n.DType().Size()) // of whole numbers, which float64 would round
	for i, x := range values {
		if x > 0 && uint64(x) > math.MaxInt64 {
			return mistaken("Of", fmt.Errorf("%d is no value of type %v", uint64(x), n.DType()), data)
		}
		kernel.As[int64](m)[i] = int64(x)
	}
	return denseOver(v.Type, m)
}
