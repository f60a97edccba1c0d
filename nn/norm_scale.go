package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// NewScaleOnlyNorm returns a layer norm that scales but does not shift: it adds the parameter
// NAME/gain[d], of ones (the notes on query standardisation).
func NewScaleOnlyNorm(g *graph.Graph, name string, dt graph.DType, d graph.Axis) LayerNorm {
	defer g.Scope(name)()
	return LayerNorm{Name: name, Gain: g.Param("gain", dt, d).Init(initial.Fill(1))}
}

// RMSNorm gives each vector along the last axis a mean square of 1 and scales each feature; it does
// not subtract the mean (Zhang & Sennrich, 2019):
//
//	y = x/√(mean x² + 10⁻⁵) · gain
type RMSNorm struct {
	Name string
	Gain *graph.Node // gain[d]; nil for none
}

// NewRMSNorm adds the parameter NAME/gain[d], of ones.
func NewRMSNorm(g *graph.Graph, name string, dt graph.DType, d graph.Axis) RMSNorm {
	return RMSNorm{name, NewScaleOnlyNorm(g, name, dt, d).Gain}
}

// Of returns the normalised x[… d], in the shape of x.
func (l RMSNorm) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.Gain)()
	return build.Affine(ops.Div(x, build.RootMeanSquare(x).As("rms")), l.Gain, nil)
}

// StandardiseWeights gives the weights w[… c o] of every output mean 0 and variance 1, in the shape
// of w, so that they cannot grow (Qiao et al., 2019; the notes on weight standardisation). Apply it
// to the weights of a layer:
//
//	Conv{W: StandardiseWeights(l.W), B: l.B, Window: l.Window}
func StandardiseWeights(w *graph.Node) *graph.Node {
	defer graph.Of(w).Scope("standardise")()
	axes := span(w, 0)
	if w.IsValid() && len(axes) == 0 {
		return wantPositions("StandardiseWeights", w)
	}
	return ops.Standardise(w, build.Epsilon, axes...).As("ŵ")
}
