package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// layout has the operators that move elements, and those that ask for shapes.
var layout = map[string]rule{
	"Shape": func(c *call) []value {
		sizes := c.x(0).Shape().Sizes()
		data := make([]float64, len(sizes))
		for i, n := range sizes {
			data[i] = float64(n)
		}
		return []value{{node: c.g.Constant(graph.I64, data, graph.Ax("", len(data))), elem: format.Int64}}
	},
}
