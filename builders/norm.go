package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// epsilon is added to variances before their root is taken.
const epsilon = 1e-5

// LayerNorm gives each vector along the last axis mean 0 and variance 1, then
// scales and shifts each feature (Ba, Kiros & Hinton, 2016; the notes on layer
// normalisation):
//
//	y = (x − mean x)/√(var x + 10⁻⁵) · gain + bias
type LayerNorm struct {
	Name string
	Gain *graph.Node // gain[d]; nil for none
	Bias *graph.Node // bias[d]; nil for none
}

// NewLayerNorm adds the parameters NAME/gain[d], of ones, and NAME/bias[d], of zeros.
func NewLayerNorm(g *graph.Graph, name string, dt graph.DType, d graph.Axis) LayerNorm {
	defer g.Scope(name)()
	return LayerNorm{name, g.Param("gain", dt, d).Init(graph.Fill(1)), g.Param("bias", dt, d)}
}

// Of is the norm of x[… d].
func (l LayerNorm) Of(x *graph.Node) *graph.Node {
	defer within(l.Name, x, l.Gain)()
	return affine(ops.Standardise(x, epsilon, -1), l.Gain, l.Bias)
}

// affine is x·gain + bias, element by element, of those that are there.
func affine(x, gain, bias *graph.Node) *graph.Node {
	if gain != nil {
		x = ops.Mul(x, gain)
	}
	if bias != nil {
		x = ops.Add(x, bias)
	}
	return x
}
