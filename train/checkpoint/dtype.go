package checkpoint

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// inFile are the types that a file calls by a name and hands out as wider ones.
var inFile = map[graph.DType]string{graph.F16: "F16", graph.BF16: "BF16"}

// asStored returns a tensor that was read from a file as one of the element type that it has in the
// file, which is also that of the store: exactly, because it was widened when it was read. Other
// tensors are returned as they are.
func asStored(t *tensor.Dense, dtype string) (*tensor.Dense, error) {
	dt, bits := graph.F16, half.Bits
	switch dtype {
	case "F16":
	case "BF16":
		dt, bits = graph.BF16, half.BrainBits
	default:
		return t, nil
	}
	shape, err := graph.NewShape(graph.Dims(t.Shape()...)...)
	if err != nil {
		return nil, err
	}
	list := make([]uint16, shape.Len())
	for i := range list {
		list[i] = bits(t.Float32s()[i])
	}
	return tape.HalfBits(graph.Type{DType: dt, Shape: shape}, list), nil
}
