package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// quantisations has the operators on numbers q that stand for (q − zero)·scale.
var quantisations = map[string]rule{
	"ConvInteger":           convInteger,
	"DequantizeLinear":      dequantise,
	"DynamicQuantizeLinear": dynamicQuantise,
	"MatMulInteger":         matMulInteger,
	"QLinearConv":           quantisedConvolution,
	"QLinearMatMul":         quantisedMatMul,
	"QuantizeLinear":        quantise,

	"com.microsoft.DequantizeLinear":         dequantise,
	"com.microsoft.DynamicQuantizeMatMul":    dynamicMatMul,
	"com.microsoft.MatMulIntegerToFloat":     scaledMatMul,
	"com.microsoft.QLinearAdd":               quantisedPair(pair(ops.Add)),
	"com.microsoft.QGemm":                    quantisedGemm,
	"com.microsoft.QLinearAveragePool":       quantisedOf(func(c *call, x *graph.Node) *graph.Node { return c.plainly("AveragePool", x) }),
	"com.microsoft.QLinearSoftmax":           quantisedOf(quantisedSoftmax),
	"com.microsoft.QLinearWhere":             quantisedWhere,
	"com.microsoft.QLinearMul":               quantisedPair(pair(ops.Mul)),
	"com.microsoft.QLinearSigmoid":           quantisedOf(func(c *call, x *graph.Node) *graph.Node { return ops.Sigmoid(x) }),
	"com.microsoft.QLinearLeakyRelu":         quantisedOf(func(c *call, x *graph.Node) *graph.Node { return ops.LeakyReLU(x, c.float("alpha", 0.01)) }),
	"com.microsoft.QLinearGlobalAveragePool": quantisedPool,
	"com.microsoft.QLinearConcat":            quantisedConcat,
	"com.microsoft.QuantizeLinear":           quantise,
}

// along lays a number, or numbers for an axis, out for x.
func (c *call) along(v, x *graph.Node, axis int) *graph.Node {
	if v.Shape().Len() == 1 && v.Rank() <= 1 {
		return c.reshape(v)
	}
	if v.Rank() != 1 || v.Dim(0) != x.Dim(axis) {
		c.fail("numbers of shape %v for axis %d of an array of shape %v", v.Shape().Sizes(), axis, x.Shape().Sizes())
	}
	return c.reshape(v, append([]int{v.Dim(0)}, ones(x.Rank()-1-axis)...)...)
}

// scaleAxis returns the axis of x for which there may be scales.
func (c *call) scaleAxis(x *graph.Node) int {
	if c.has(1) && c.x(1).Shape().Len() == 1 && c.x(1).Rank() <= 1 {
		return 0
	}
	return c.axis(c.int("axis", 1), x.Rank())
}

// saturated returns floats x as integers, rounded to the nearest, with the even one of two, and
// limited to what the type holds.
func (c *call) saturated(x, zero *graph.Node, elem format.DataType) value {
	lo, hi := 0.0, 255.0
	switch elem {
	case format.Uint8:
	case format.Int8:
		lo, hi = -128, 127
	case format.Uint16:
		hi = 1<<16 - 1
	case format.Int16:
		lo, hi = -1<<15, 1<<15-1
	case format.Int32:
		lo, hi = -1<<31, 1<<31-1
	default:
		c.fail("numbers are quantised to %v: want integers of 8 or 16 bits", elem)
	}
	x = ops.Round(x)
	if zero != nil {
		x = ops.Add(x, ops.Cast(zero, x.DType()))
	}
	dt, _ := c.dtype(elem)
	return value{node: ops.Cast(ops.Clip(x, ops.Lit(x, lo), ops.Lit(x, hi)), dt), elem: elem}
}

func quantise(c *call) []value {
	x := c.x(0)
	scale := c.x(1)
	if !x.DType().IsFloat() {
		x = ops.Cast(x, scale.DType())
	}
	axis, elem := c.scaleAxis(x), format.Uint8
	var zero *graph.Node
	if c.has(2) {
		zero, elem = c.along(c.x(2), x, axis), c.in[2].elem
	} else if to := format.DataType(c.int("output_dtype", 0)); to != format.Undefined {
		elem = to
	}
	return []value{c.saturated(ratio(x, c.along(scale, x, axis)), zero, elem)}
}

// ratio returns x/scale in the type of x, rounded as a division: where a scale is that of many
// numbers, a division may be compiled as a product with 1/scale, whose last digit would decide
// between two integers.
func ratio(x, scale *graph.Node) *graph.Node {
	return ops.Cast(ops.Div(wide(x), wide(scale)), x.DType())
}

func dequantise(c *call) []value {
	x, axis := c.x(0), c.scaleAxis(c.x(0))
	var zero *graph.Node
	if c.has(2) {
		zero = c.along(c.x(2), x, axis)
	}
	return []value{c.is(1, c.plain(x, c.along(c.x(1), x, axis), zero))}
}

// plain returns (q − zero)·scale.
func (c *call) plain(q, scale, zero *graph.Node) *graph.Node {
	return ops.Mul(ops.Cast(centred(q, zero, graph.F64), scale.DType()), scale)
}

// centred returns q − zero as floats; zero may be nil.
func centred(q, zero *graph.Node, dt graph.DType) *graph.Node {
	q = ops.Cast(q, dt)
	if zero != nil {
		q = ops.Sub(q, ops.Cast(zero, dt))
	}
	return q
}

// dynamicQuantise chooses the scale so that the numbers and 0 are within 0…255. Scale and zero are
// the second and third output.
func dynamicQuantise(c *call) []value {
	y, scale, zero := c.dynamic(c.x(0))
	return []value{y, {node: scale, elem: format.Float}, {node: zero, elem: format.Uint8}}
}

func (c *call) dynamic(x *graph.Node) (y value, scale, zero *graph.Node) {
	none := ops.Lit(x, 0)
	lo, hi := ops.Minimum(ops.Min(x), none), ops.Maximum(ops.Max(x), none)
	scale = ops.Div(ops.Sub(hi, lo), ops.Lit(x, 255))
	scale = ops.Select(ops.Equal(hi, lo), ops.Lit(x, 1), scale) // of zeros alone
	zero = c.saturated(ops.Neg(ratio(lo, scale)), nil, format.Uint8).node
	return c.saturated(ratio(x, scale), zero, format.Uint8), scale, zero
}

// rows lays the zeros or scales of a matrix of rows out: a number, one a row, or an array that fits.
func (c *call) rows(v, a *graph.Node) *graph.Node {
	if v.Rank() == 1 && v.Dim(0) > 1 && a.Rank() > 1 {
		if v.Dim(0) != a.Dim(a.Rank()-2) {
			c.fail("%d numbers for %d rows", v.Dim(0), a.Dim(a.Rank()-2))
		}
		return c.reshape(v, v.Dim(0), 1)
	}
	return c.single(v)
}

// single returns an array of one element without axes.
func (c *call) single(v *graph.Node) *graph.Node {
	if v.Shape().Len() == 1 {
		return c.reshape(v)
	}
	return bare(v)
}

// optional returns operand i; nil if it is not given.
func (c *call) optional(i int) *graph.Node {
	if !c.has(i) {
		return nil
	}
	return c.x(i)
}

func matMulInteger(c *call) []value {
	y := c.matrices(c.x(0), c.optional(2), c.x(1), 3)
	return []value{{node: ops.Cast(y, graph.I32), elem: format.Int32}}
}

// quantisedMatMul has the operands a, its scale and zero, b, its scale and zero, and the scale and
// zero of the result.
func quantisedMatMul(c *call) []value {
	a := c.x(0)
	y := wide(c.matrices(a, c.x(2), c.x(3), 5))
	scale := ops.Div(ops.Mul(wide(c.rows(c.x(1), a)), wide(c.single(c.x(4)))), wide(c.rows(c.x(6), y)))
	return []value{c.saturated(ops.Mul(y, scale), c.rows(c.x(7), y), c.in[7].elem)}
}

// wide returns floats as float64.
func wide(x *graph.Node) *graph.Node { return ops.Cast(x, graph.F64) }

// scaledMatMul has the operands a and b, their scales, their zeros, and a bias.
func scaledMatMul(c *call) []value {
	a := c.x(0)
	y := wide(c.matrices(a, c.optional(4), c.x(1), 5))
	y = ops.Mul(y, ops.Mul(wide(c.rows(c.x(2), a)), wide(c.single(c.x(3)))))
	return []value{c.is(2, c.plus(ops.Cast(y, c.x(2).DType()), 6))}
}

// plus adds operand i, if there is one.
func (c *call) plus(y *graph.Node, i int) *graph.Node {
	if !c.has(i) {
		return y
	}
	return ops.Add(c.broadcast(y, c.x(i))...)
}

// dynamicMatMul quantises a as [dynamicQuantise] does. Its other operands are b, the scale and the
// zero of b, and a bias.
func dynamicMatMul(c *call) []value {
	q, scale, zero := c.dynamic(c.x(0))
	y := wide(c.matrices(q.node, zero, c.x(1), 3))
	y = ops.Mul(y, ops.Mul(wide(scale), wide(c.single(c.x(2)))))
	return []value{c.is(0, c.plus(ops.Cast(y, c.x(0).DType()), 4))}
}

func (c *call) zero(i int) *graph.Node {
	if !c.has(i) {
		return nil
	}
	return c.single(c.x(i))
}

func convInteger(c *call) []value {
	y := c.images(c.x(0), 2, c.x(1), 3)
	return []value{{node: ops.Cast(y, graph.I32), elem: format.Int32}}
}

// quantisedConvolution has the operands x, its scale and zero, the kernel, its scales and zeros, the
// scale and zero of the result, and a bias, which is an integer of the scale of the products.
func quantisedConvolution(c *call) []value {
	y := wide(c.images(c.x(0), 2, c.x(3), 5))
	if c.has(8) {
		y = ops.Add(y, perChannel(wide(c.x(8)), y))
	}
	scale := ops.Div(ops.Mul(wide(c.single(c.x(1))), wide(c.along(c.x(4), y, 1))), wide(c.single(c.x(6))))
	return []value{c.saturated(ops.Mul(y, scale), c.zero(7), c.in[7].elem)}
}

// quantisedPair is an operator on two arrays, each with its scale and zero, and the scale and zero of
// the result.
func quantisedPair(f func(a, b *graph.Node) *graph.Node) rule {
	return func(c *call) []value {
		a := c.plain(c.x(0), c.single(c.x(1)), c.zero(2))
		b := c.plain(c.x(3), c.single(c.x(4)), c.zero(5))
		xs := c.broadcast(a, b)
		return []value{c.scaledTo(f(xs[0], xs[1]), 6, c.in[0].elem)}
	}
}

// scaledTo quantises y with the scale that is operand i and the zero behind it.
func (c *call) scaledTo(y *graph.Node, i int, elem format.DataType) value {
	return c.saturated(ratio(y, c.single(c.x(i))), c.zero(i+1), elem)
}

// quantisedOf is an operator on an array with its scale and zero, and the scale and zero of the
// result.
func quantisedOf(f func(c *call, x *graph.Node) *graph.Node) rule {
	return func(c *call) []value {
		return []value{c.scaledTo(f(c, c.plain(c.x(0), c.single(c.x(1)), c.zero(2))), 3, c.in[0].elem)}
	}
}

// quantisedPool is the mean over all axes but the batch and the channels.
func quantisedPool(c *call) []value {
	if c.int("channels_last", 0) != 0 {
		c.fail("channels in the last axis")
	}
	return quantisedOf(func(c *call, x *graph.Node) *graph.Node {
		return ops.Mean(x, append(places(2, x.Rank()), ops.Keep)...)
	})(c)
}

// quantisedConcat has the scale and zero of the result, and then each array with its own.
func quantisedConcat(c *call) []value {
	var xs []*graph.Node
	for i := 2; i < len(c.in); i += 3 {
		xs = append(xs, c.plain(c.x(i), c.single(c.x(i+1)), c.zero(i+2)))
	}
	if len(xs) == 0 {
		c.fail("no arrays")
	}
	y := ops.Concat(c.axis(c.int("axis", 0), xs[0].Rank()), xs...)
	return []value{c.scaledTo(y, 0, c.in[2].elem)}
}

// plainly returns what a standard operator gives of an array, with the attributes of this node.
func (c *call) plainly(op string, x *graph.Node) *graph.Node {
	if c.int("channels_last", 0) != 0 {
		c.fail("channels in the last axis")
	}
	other := *c
	other.in = []value{{node: x, elem: format.Float}}
	return c.table[op](&other)[0].node
}

// quantisedSoftmax is over one axis; before version 13, which an attribute says, over all from that
// axis on.
func quantisedSoftmax(c *call, x *graph.Node) *graph.Node {
	axis := c.axis(c.int("axis", -1), x.Rank())
	if c.int("opset", 13) < 13 {
		return c.reshape(ops.Softmax(c.flat(x, axis), 1), x.Shape().Sizes()...)
	}
	return ops.Softmax(x, axis)
}

// quantisedWhere has a mask, two arrays with their scales and zeros, and the scale and zero of the
// result.
func quantisedWhere(c *call) []value {
	a := c.plain(c.x(1), c.single(c.x(2)), c.zero(3))
	b := c.plain(c.x(4), c.single(c.x(5)), c.zero(6))
	xs := c.broadcast(c.x(0), a, b)
	return []value{c.scaledTo(ops.Select(xs[0], xs[1], xs[2]), 7, c.in[1].elem)}
}

// quantisedGemm has the operands a, its scale and zero, b, its scales and zeros, a bias, which is an
// integer of the scale of the products, and the scale and zero of the result, which is of floats
// without them.
func quantisedGemm(c *call) []value {
	a, b := c.swapped(bare(c.x(0)), "transA"), c.swapped(bare(c.x(3)), "transB")
	y := wide(c.matrices(a, c.zero(2), b, 5))
	if c.has(6) {
		y = ops.Add(c.broadcast(y, wide(c.x(6)))...)
	}
	y = c.times(ops.Mul(y, ops.Mul(wide(c.single(c.x(1))), wide(c.single(c.x(4))))), c.float("alpha", 1))
	if !c.has(7) {
		return []value{c.is(1, ops.Cast(y, c.x(1).DType()))}
	}
	return []value{c.scaledTo(y, 7, c.in[8].elem)}
}
