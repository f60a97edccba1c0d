package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// norms has the operators that make numbers comparable to those around them.
var norms = map[string]rule{
	"GroupNormalization":        groupNorm,
	"InstanceNormalization":     instanceNorm,
	"LRN":                       responseNorm,
	"LayerNormalization":        layerNorm,
	"LpNormalization":           lpNorm,
	"MeanVarianceNormalization": meanVarianceNorm,
}

// layerNorm computes numbers of two bytes in the type that stash_type says. Its other outputs are the
// mean and the reciprocal standard deviation, of that type.
func layerNorm(c *call) []value {
	x := c.x(0)
	axes := places(c.axis(c.int("axis", -1), x.Rank()), x.Rank())
	ε := c.float("epsilon", 1e-5)
	stash, dt := c.typed("stash_type", format.Float)
	if x.DType().IsHalf() {
		x = ops.Cast(x, dt)
	}
	y := ops.Cast(ops.Standardise(x, ε, axes...), c.x(0).DType())
	axes = append(axes, ops.Keep)
	return []value{
		c.is(0, c.scaled(y, 1, 2)),
		{node: ops.Cast(ops.Mean(x, axes...), dt), elem: stash},
		{node: ops.Cast(ops.Rstd(x, ε, axes...), dt), elem: stash},
	}
}

// scaled returns x times operand i plus operand j, if there is one.
func (c *call) scaled(x *graph.Node, i, j int) *graph.Node {
	xs := c.broadcast(x, c.x(i))
	y := ops.Mul(xs...)
	if c.has(j) {
		y = ops.Add(c.broadcast(y, c.x(j))...)
	}
	return y
}

// channels returns a vector laid out along axis 1 of x.
func (c *call) channels(i int, x *graph.Node) *graph.Node {
	v := c.x(i)
	if v.Rank() != 1 || v.Dim(0) != x.Dim(1) {
		c.fail("operand %d of shape %v for an array of shape %v", i, v.Shape().Sizes(), x.Shape().Sizes())
	}
	return c.reshape(v, append(v.Shape().Sizes(), ones(x.Rank()-2)...)...)
}

// image returns operand 0, which must have a batch, channels and at least so many axes more.
func (c *call) image(more int) *graph.Node {
	x := c.x(0)
	if x.Rank() < 2+more {
		c.fail("an operand with %d axes: want at least %d", x.Rank(), 2+more)
	}
	return x
}

func instanceNorm(c *call) []value {
	x := c.image(1)
	y := ops.Standardise(x, c.float("epsilon", 1e-5), places(2, x.Rank())...)
	return []value{c.is(0, ops.Add(ops.Mul(y, c.channels(1, x)), c.channels(2, x)))}
}

// groupNorm has a scale and a bias for each group before version 21, and for each channel since.
func groupNorm(c *call) []value {
	x := c.image(0)
	sizes, groups := x.Shape().Sizes(), c.int("num_groups", 0)
	if groups < 1 || sizes[1]%groups != 0 {
		c.fail("%d channels in %d groups", sizes[1], groups)
	}
	rest := product(sizes[2:])
	parted := c.reshape(x, sizes[0], groups, sizes[1]/groups, rest)
	y := ops.Standardise(parted, c.float("epsilon", 1e-5), 2, 3)
	if c.version() < 21 {
		y = ops.Add(ops.Mul(y, c.channels(1, y)), c.channels(2, y))
		return []value{c.is(0, c.reshape(y, sizes...))}
	}
	y = c.reshape(y, sizes...)
	return []value{c.is(0, ops.Add(ops.Mul(y, c.channels(1, x)), c.channels(2, x)))}
}

// meanVarianceNorm divides by the standard deviation plus 1e-9, the square of which is lost in the
// variance unless that is 0. Version 1 has across_channels and normalize_variance.
func meanVarianceNorm(c *call) []value {
	x := c.x(0)
	list := c.list("axes")
	switch {
	case c.version() < 9 && c.int("across_channels", 0) != 0:
		list = upTo(x.Rank())
	case list == nil:
		list = []int{0, 2, 3}
	}
	axes := c.axes(list, x.Rank())
	if c.version() < 9 && c.int("normalize_variance", 1) == 0 {
		return []value{c.is(0, ops.Sub(x, ops.Mean(x, append(axes, ops.Keep)...)))}
	}
	return []value{c.is(0, ops.Standardise(x, 1e-18, axes...))}
}

// responseNorm divides by a power of the mean of squares over neighbouring channels.
func responseNorm(c *call) []value {
	x := c.image(0)
	n := c.int("size", 0)
	if n < 1 || n > 2*x.Dim(1)+1<<16 {
		c.fail("%d neighbours of %d channels", n, x.Dim(1))
	}
	sizes := x.Shape().Sizes()
	squares := ops.Square(c.reshape(x, sizes[0], sizes[1], product(sizes[2:])))
	before := (n - 1) / 2
	if n > 1 { // the mean takes neighbours that are not there as 0
		squares = ops.AvgPool1D(ops.Pad(squares, 1, before, n-1-before, 0), ops.Size(n), ops.Stride(1))
	}
	scale := ops.Shift(ops.Scale(c.reshape(squares, sizes...), c.float("alpha", 1e-4)), c.float("bias", 1))
	return []value{c.is(0, ops.Mul(x, ops.Pow(scale, ops.Lit(x, -c.float("beta", 0.75)))))}
}

// lpNorm divides by the sum of magnitudes along an axis, or by the root of that of squares. What is
// all 0 stays so.
func lpNorm(c *call) []value {
	x := c.x(0)
	axis := c.axis(c.int("axis", -1), x.Rank())
	var norm *graph.Node
	switch p := c.int("p", 2); p {
	case 1:
		norm = ops.Sum(ops.Abs(x), axis, ops.Keep)
	case 2:
		norm = ops.Norm(x, axis, ops.Keep)
	default:
		c.fail("p is %d: want 1 or 2", p)
	}
	norm = ops.Select(ops.Equal(norm, ops.Lit(x, 0)), ops.Lit(x, 1), norm)
	return []value{c.is(0, ops.Div(x, norm))}
}
