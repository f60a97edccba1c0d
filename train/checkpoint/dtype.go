package checkpoint

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// inFile are the types that a file calls by a name and hands out as wider ones.
var inFile = map[graph.DType]string{graph.F16: "F16", graph.BF16: "BF16", graph.I8: "I8", graph.U8: "U8"}

// asStored returns a tensor that was read from a file as one of the element type that it has in the
// file, which is also that of the store: exactly, because it was widened when it was read. Other
// tensors are returned as they are.
func asStored(t *tensor.Dense, dtype string) (*tensor.Dense, error) {
	shape, err := graph.NewShape(graph.Dims(t.Shape()...)...)
	switch {
	case err != nil:
		return nil, err
	case dtype == "F16":
		return halves(graph.Type{DType: graph.F16, Shape: shape}, t.Float32s(), half.Bits), nil
	case dtype == "BF16":
		return halves(graph.Type{DType: graph.BF16, Shape: shape}, t.Float32s(), half.BrainBits), nil
	case dtype == "I8":
		return tensor.New(tensor.WithShape(t.Shape()...), tensor.WithBacking(narrowed(t.Int32s(), func(v int32) int8 { return int8(v) }))), nil
	case dtype == "U8":
		return tensor.New(tensor.WithShape(t.Shape()...), tensor.WithBacking(narrowed(t.Int32s(), func(v int32) uint8 { return uint8(v) }))), nil
	}
	return t, nil
}

func halves(t graph.Type, from []float32, bits func(float32) uint16) *tensor.Dense {
	return tape.HalfBits(t, narrowed(from, bits))
}

func narrowed[D, S any](from []S, convert func(S) D) []D {
	to := make([]D, len(from))
	for i, v := range from {
		to[i] = convert(v)
	}
	return to
}
