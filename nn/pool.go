package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
)

// The notes list four ways to put one element in the place of k×k: the largest
// (ops.MaxPool2D), the average (ops.AvgPool2D), one of them (PickOne), and a
// weighted average (NewWeightedPool).

// PickOne keeps the first element of every k along each spatial axis of x[n … c]. After a
// convolution it equals the convolution with stride k, which does not compute the others.
func PickOne(x *graph.Node, k int) *graph.Node {
	axes := positions(x)
	switch {
	case len(axes) == 0:
		return wantPositions("PickOne", x)
	case k < 1:
		return graph.Of(x).Fail("PickOne", fmt.Errorf("one of %d: want at least 1", k), x)
	}
	for _, a := range axes {
		x = ops.SliceStep(x, a, 0, 0, k) // 0 is the end
	}
	return x
}

// NewWeightedPool adds the parameter NAME/w[k k 1 c] of a learnt weighted average over squares of
// k×k, channel by channel: a convolution with stride k. It starts as the plain average.
func NewWeightedPool(g *graph.Graph, name string, dt graph.DType, c graph.Axis, k int) Conv {
	defer g.Scope(name)()
	w := g.Param("w", dt, kernelAxes(2, ops.Size(k), graph.Axis{Size: 1}, c)...).Init(initial.Fill(1 / float64(max(1, k*k))))
	return Conv{Name: name, W: w, Window: ops.Windows(ops.Stride(k), ops.Groups(c.Size))}
}

// GlobalAverage returns the average y[n c] over all places of floats x[n … c].
func GlobalAverage(x *graph.Node) *graph.Node {
	axes := positions(x)
	if len(axes) == 0 {
		return wantPositions("GlobalAverage", x)
	}
	return ops.Mean(x, axes...)
}

// positions returns the axes of x[n … c] between the batch and the channels.
func positions(x *graph.Node) []any { return span(x, 1) }

// span returns the axes of x from the given one up to the channels, which come last.
func span(x *graph.Node, from int) []any {
	var axes []any
	if x.IsValid() {
		for a := from; a < x.Rank()-1; a++ {
			axes = append(axes, a)
		}
	}
	return axes
}

// wantPositions records that x has no axes between batch and channels.
func wantPositions(what string, x *graph.Node) *graph.Node {
	return graph.Of(x).Fail(what, fmt.Errorf("want an array [n … c] with places between batch and channels"), x)
}
