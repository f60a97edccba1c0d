package augment

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Flip mirrors images x[n h w c] left to right, along the axis w. In all functions of this package,
// x must be of floats and of four axes; anything else is a mistake.
func Flip(x *graph.Node) *graph.Node {
	if bad := wantImages("Flip", x); bad != nil {
		return bad
	}
	return ops.Reverse(x, 2)
}

// RandomFlip mirrors each image left to right with probability p.
func RandomFlip(x, p *graph.Node) *graph.Node {
	defer graph.Of(x, p).Scope("flip")()
	return sometimes("RandomFlip", x, p, Flip)
}

// sometimes applies f to an example with probability p.
func sometimes(what string, x, p *graph.Node, f func(x *graph.Node) *graph.Node) *graph.Node {
	if bad := wantImages(what, x); bad != nil {
		return bad
	}
	return ops.Select(chosen(x, p), f(x), x)
}

// chosen returns a mask [n 1 …] beside x[n …] that is true with probability p.
func chosen(x, p *graph.Node) *graph.Node {
	return ops.Less(uniform(x, "coin"), p).As("chosen")
}

// uniform draws a number in [0, 1) for each example of x[n …]: u[n 1 …].
func uniform(x *graph.Node, name string) *graph.Node {
	return ops.RandomUniform(x.Graph(), name, x.DType(), build.PerExample(x)...).As(name)
}

// aligned reshapes v[n], a number for each example, to v[n 1 …] of the given rank, so that it
// broadcasts over examples. A scalar stays as it is.
func aligned(v *graph.Node, rank int) *graph.Node {
	if !v.IsValid() || v.Rank() != 1 {
		return v
	}
	s, err := graph.NewShape(append(v.Shape().Axes(), ones(rank-1)...)...)
	if err != nil {
		return v.Graph().Fail("augmentation", err, v)
	}
	return ops.ReshapeTo(v, s)
}

// ones returns unnamed axes of size 1.
func ones(n int) []graph.Axis {
	axes := make([]graph.Axis, n)
	for i := range axes {
		axes[i].Size = 1
	}
	return axes
}

// wantImages returns nil if x is an array of images, and else records a mistake.
func wantImages(what string, x *graph.Node) *graph.Node {
	if x.IsValid() && x.Rank() == 4 && x.DType().IsFloat() {
		return nil
	}
	return graph.Of(x).Fail(what, fmt.Errorf("want images [n h w c] of floats"), x)
}

// floor returns the largest integer that is not above v, as int64. It has no derivative.
func floor(v *graph.Node) *graph.Node {
	whole := ops.Cast(v, graph.I64) // towards 0
	return ops.Sub(whole, ops.Cast(ops.Less(v, ops.Cast(whole, build.DType(v))), graph.I64))
}

// whole returns floor in the type of v.
func whole(v *graph.Node) *graph.Node { return ops.Cast(floor(v), build.DType(v)) }
