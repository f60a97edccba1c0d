package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Normed returns norm.Of(x), named normed, or x itself if norm is nil.
func Normed(x *graph.Node, norm *LayerNorm) *graph.Node {
	if norm == nil {
		return x
	}
	return norm.Of(x).As("normed")
}

// LayerNorm gives each vector along the last axis mean 0 and variance 1, then scales and shifts
// each feature (Ba, Kiros & Hinton, 2016; the notes on layer normalisation):
//
//	y = (x − mean x)/√(var x + 10⁻⁵) · gain + bias
//
// With more axes it has one mean and one variance for all of them: of x[n h w c] with three axes
// those of all channels of an image together, as the notes have it, of nodes x[i d] with two those
// of all nodes of a graph.
type LayerNorm struct {
	Name string
	Gain *graph.Node // gain[d]; nil for none
	Bias *graph.Node // bias[d]; nil for none
	Axes int         // how many of the last axes have their statistics in common; 0 is 1
}

// NewLayerNorm adds the parameters NAME/gain[d], of ones, and NAME/bias[d], of zeros.
func NewLayerNorm(g *graph.Graph, name string, dt graph.DType, d graph.Axis) LayerNorm {
	defer g.Scope(name)()
	return LayerNorm{Name: name, Gain: g.Param("gain", dt, d).Init(initial.Fill(1)), Bias: g.Param("bias", dt, d)}
}

// Of returns the normalised x[… d], in the shape of x.
func (l LayerNorm) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.Gain)()
	axes := []any{-1}
	if x.IsValid() && l.Axes > x.Rank() {
		return graph.Of(x).Fail("LayerNorm", fmt.Errorf("statistics of %d axes of %v", l.Axes, x.Shape()), x)
	}
	for a := 2; a <= l.Axes; a++ {
		axes = append(axes, -a)
	}
	return build.Affine(ops.Standardise(x, build.Epsilon, axes...), l.Gain, l.Bias)
}
