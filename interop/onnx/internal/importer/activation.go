package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// activations has the functions that layers end in.
var activations = map[string]rule{
	"Celu": with("alpha", 1, func(x *graph.Node, α float64) *graph.Node {
		return ops.Scale(ops.ELU(ops.Scale(x, 1/α)), α)
	}),
	"Elu":  with("alpha", 1, elu),
	"Gelu": gelu,
	"HardSigmoid": func(c *call) []value {
		return []value{c.is(0, hardSigmoid(c.x(0), c.float("alpha", 0.2), c.float("beta", 0.5)))}
	},
	"HardSwish": unary(func(x *graph.Node) *graph.Node { return ops.Mul(x, hardSigmoid(x, 1.0/6, 0.5)) }),
	"LeakyRelu": with("alpha", 0.01, ops.LeakyReLU),
	"Mish":      unary(ops.Mish),
	"PRelu":     prelu,
	"Relu":      unary(relu),
	"Selu":      selu,
	"Shrink":    shrink,
	"Sigmoid":   unary(ops.Sigmoid),
	"Softplus":  unary(ops.Softplus),
	"Softsign":  unary(func(x *graph.Node) *graph.Node { return ops.Div(x, ops.Shift(ops.Abs(x), 1)) }),
	"ThresholdedRelu": with("alpha", 1, func(x *graph.Node, α float64) *graph.Node {
		return ops.Select(ops.Greater(x, ops.Lit(x, α)), x, ops.Lit(x, 0))
	}),
}

// with is a rule for a function with one number, an attribute.
func with(name string, otherwise float64, f func(x *graph.Node, v float64) *graph.Node) rule {
	return func(c *call) []value { return []value{c.is(0, f(c.x(0), c.float(name, otherwise)))} }
}

func relu(x *graph.Node) *graph.Node {
	if x.DType().IsInt() {
		return ops.Maximum(x, ops.Lit(x, 0))
	}
	return ops.ReLU(x)
}

func elu(x *graph.Node, α float64) *graph.Node {
	if α == 1 {
		return ops.ELU(x)
	}
	positive := ops.Greater(x, ops.Lit(x, 0))
	// Where x is chosen, its exponential might overflow, and 0·∞ in the derivative is NaN.
	return ops.Select(positive, x, ops.Scale(ops.Expm1(ops.Select(positive, ops.Lit(x, 0), x)), α))
}

// selu has shorter numbers by default before version 6.
func selu(c *call) []value {
	α, γ := 1.67326319217681884765625, 1.05070102214813232421875
	if c.version() < 6 {
		α, γ = 1.6732, 1.0507
	}
	return []value{c.is(0, ops.Scale(elu(c.x(0), c.float("alpha", α)), c.float("gamma", γ)))}
}

func gelu(c *call) []value {
	switch a := c.text("approximate", "none"); a {
	case "none":
		return []value{c.is(0, ops.GELU(c.x(0)))}
	case "tanh":
		return []value{c.is(0, ops.GELUTanh(c.x(0)))}
	default:
		c.fail("approximate %q: want none or tanh", a)
		return nil
	}
}

func hardSigmoid(x *graph.Node, α, β float64) *graph.Node {
	return ops.Clip(ops.Shift(ops.Scale(x, α), β), ops.Lit(x, 0), ops.Lit(x, 1))
}

// prelu has a slope for each channel before version 7, and broadcasts it since.
func prelu(c *call) []value {
	x, slope := c.x(0), c.x(1)
	if c.version() < 7 && slope.Shape().Len() > 1 && slope.Rank() == 1 && x.Rank() > 1 {
		slope = c.reshape(slope, append(slope.Shape().Sizes(), ones(x.Rank()-2)...)...)
	}
	xs := c.broadcast(x, slope)
	return []value{c.is(0, ops.Select(ops.Less(xs[0], ops.Lit(x, 0)), ops.Mul(xs[1], xs[0]), xs[0]))}
}

func shrink(c *call) []value {
	x := c.x(0)
	λ, bias := c.float("lambd", 0.5), c.float("bias", 0)
	y := ofFloats(func(x *graph.Node) *graph.Node {
		low, high := ops.Less(x, ops.Lit(x, -λ)), ops.Greater(x, ops.Lit(x, λ))
		return ops.Select(low, ops.Shift(x, bias), ops.Select(high, ops.Shift(x, -bias), ops.Lit(x, 0)))
	})(x)
	return []value{as(c.in[0].elem, y)}
}
