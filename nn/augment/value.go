package augment

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Autocontrast stretches every channel of every image to the range from 0 to 1. A constant channel
// stays as it is.
func Autocontrast(x *graph.Node) *graph.Node {
	if bad := wantImages("Autocontrast", x); bad != nil {
		return bad
	}
	low := ops.Min(x, 1, 2, ops.Keep).As("low")
	spread := ops.Sub(ops.Max(x, 1, 2, ops.Keep).As("high"), low).As("spread")
	varies := ops.Less(ops.Lit(x, 0), spread)
	stretched := ops.Div(ops.Sub(x, low), ops.Select(varies, spread, ops.Lit(x, 1)))
	return ops.Select(varies, stretched, x)
}

// RandomAutocontrast stretches each image with probability p.
func RandomAutocontrast(x, p *graph.Node) *graph.Node {
	defer graph.Of(x, p).Scope("autocontrast")()
	return sometimes("RandomAutocontrast", x, p, Autocontrast)
}

// Posterise keeps the most significant bits of the eight that an intensity between 0 and 1 is
// stored in. bits is between 0 and 8, a scalar of x's type or [n]. It passes no derivative on; the
// true one is 0.
func Posterise(x, bits *graph.Node) *graph.Node {
	if bad := wantImages("Posterise", x); bad != nil {
		return bad
	}
	powers := x.Graph().Constant(x.DType(), []float64{256, 128, 64, 32, 16, 8, 4, 2, 1}, graph.Ax("bits", 9)).As("powers")
	step := ops.Gather(powers, floor(aligned(bits, 4)), 0).As("step") // exact, as Pow need not be
	stored := whole(ops.Shift(ops.Scale(x, 255), 0.5)).As("stored")
	return ops.Scale(ops.Mul(whole(ops.Div(stored, step)), step), 1./255)
}

// RandomPosterise keeps the given number of bits of each image with probability p.
func RandomPosterise(x, bits, p *graph.Node) *graph.Node {
	defer graph.Of(x, bits, p).Scope("posterise")()
	return sometimes("RandomPosterise", x, p, func(x *graph.Node) *graph.Node { return Posterise(x, bits) })
}

// Cutout sets a square of size by size pixels around row and column to 0 (DeVries and Taylor,
// 2017). All three are scalars or [n] of x's type and rounded down. The square may exceed the
// image.
func Cutout(x, row, column, size *graph.Node) *graph.Node {
	if bad := wantImages("Cutout", x); bad != nil {
		return bad
	}
	size = whole(aligned(size, 4))
	return ops.Select(box(x, aligned(row, 4), aligned(column, 4), size, size), ops.Lit(x, 0), x)
}

// RandomCutout sets, with probability p, a square of size by size pixels around a random pixel of
// each image to 0.
func RandomCutout(x, size, p *graph.Node) *graph.Node {
	defer graph.Of(x, size, p).Scope("cutout")()
	return sometimes("RandomCutout", x, p, func(x *graph.Node) *graph.Node {
		row, column := pixel(x)
		return Cutout(x, alone(row), alone(column), size)
	})
}

// pixel draws a position in every image, as row and column [n 1 1 1].
func pixel(x *graph.Node) (row, column *graph.Node) {
	return ops.Scale(uniform(x, "u"), float64(x.Dim(1))).As("row"), ops.Scale(uniform(x, "v"), float64(x.Dim(2))).As("column")
}

// box returns the mask of a rectangle of whole height and width around a pixel: [n h w 1].
func box(x, row, column, height, width *graph.Node) *graph.Node {
	i, j := grid(x, x.DType(), x.Dim(1), x.Dim(2))
	within := func(at, middle, size *graph.Node) *graph.Node {
		at = ops.Expand(at, -1, "")
		first := ops.Sub(whole(middle), ops.Scale(size, 0.5)).As("first")
		return ops.And(ops.LessEqual(first, at), ops.Less(at, ops.Add(first, size)))
	}
	return ops.And(within(i, row, height), within(j, column, width)).As("box")
}
