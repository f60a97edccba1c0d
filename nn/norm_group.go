package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// GroupNorm gives each group of neighbouring channels of each image mean 0 and variance 1 over all
// places, then scales and shifts each channel (Wu & He, 2018; the notes on group normalisation).
// With one group it is layer normalisation over the whole image, with as many groups as channels it
// is instance normalisation.
type GroupNorm struct {
	Name   string
	Groups int
	Gain   *graph.Node // gain[c]; nil for none
	Bias   *graph.Node // bias[c]; nil for none
}

// NewGroupNorm adds the parameters NAME/gain[c], of ones, and NAME/bias[c], of zeros.
func NewGroupNorm(g *graph.Graph, name string, dt graph.DType, c graph.Axis, groups int) GroupNorm {
	l := NewLayerNorm(g, name, dt, c)
	return GroupNorm{name, groups, l.Gain, l.Bias}
}

// Of returns the normalised x[n … c], in the shape of x. The number of groups must divide that of
// the channels; anything else is a mistake.
func (l GroupNorm) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.Gain)()
	c := build.Last(x)
	switch {
	case !x.IsValid():
		return build.Affine(ops.Standardise(x, build.Epsilon, -1), l.Gain, l.Bias)
	case x.Rank() < 2:
		return wantPositions("GroupNorm", x)
	case l.Groups < 1 || c.Size%l.Groups != 0:
		return graph.Of(x).Fail("GroupNorm", fmt.Errorf("channels %v do not divide into %d groups", c, l.Groups), x)
	}
	groups := graph.Ax("group", l.Groups)
	if x.Shape().Index(groups.Name) >= 0 {
		groups.Name = "" // the name is taken
	}
	grouped := ops.Split(x, -1, groups, graph.Axis{Name: c.Name, Size: c.Size / l.Groups})
	y := ops.Standardise(grouped, build.Epsilon, append(positions(x), -1)...)
	return build.Affine(ops.Merge(y, c.Name, -2, -1), l.Gain, l.Bias)
}

// InstanceNorm gives each channel of each image mean 0 and variance 1 over all places, then scales
// and shifts it, so that the contrast of an image does not matter (Ulyanov et al., 2016; the notes
// on instance normalisation).
type InstanceNorm struct {
	Name string
	Gain *graph.Node // gain[c]; nil for none
	Bias *graph.Node // bias[c]; nil for none
}

// NewInstanceNorm adds the parameters NAME/gain[c], of ones, and NAME/bias[c], of zeros.
func NewInstanceNorm(g *graph.Graph, name string, dt graph.DType, c graph.Axis) InstanceNorm {
	l := NewLayerNorm(g, name, dt, c)
	return InstanceNorm{name, l.Gain, l.Bias}
}

// Of returns the normalised x[n … c], in the shape of x. An array without axes between the first
// and the last is a mistake.
func (l InstanceNorm) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.Gain)()
	return build.Affine(StandardiseImage(x), l.Gain, l.Bias)
}
