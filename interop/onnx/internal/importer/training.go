package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// steps has the operators of ai.onnx.preview.training: derivatives, and steps of optimisers.
var steps = map[string]rule{
	"ai.onnx.preview.training.Adagrad":  adagrad,
	"ai.onnx.preview.training.Adam":     adam,
	"ai.onnx.preview.training.Gradient": gradient,
	"ai.onnx.preview.training.Momentum": momentum,
}

// gradient is the derivative of a value by others, which its operands must be: it could be asked for
// elsewhere too.
func gradient(c *call) []value {
	a := c.attr("xs")
	if a == nil || len(a.Strings) == 0 {
		c.fail("the attribute xs is missing")
	}
	given := slices.Clone(a.Strings)
	if zs := c.attr("zs"); zs != nil {
		given = append(given, zs.Strings...)
	}
	if !slices.Equal(given, c.n.Inputs) {
		c.fail("operands %q instead of xs and zs, %q: the derivative at other values than those of the graph", cutAll(c.n.Inputs), cutAll(given))
	}
	of, ok := c.names.find(c.text("y", ""))
	if !ok {
		c.fail("no value is called %q here", cut(c.text("y", "")))
	}
	y := c.numbers(of, len(given))
	if y.Shape().Len() != 1 {
		c.fail("y has the shape %v: want one number", y.Shape().Sizes())
	}
	var xs []*graph.Node
	for i := range a.Strings {
		xs = append(xs, c.x(i))
	}
	out := make([]value, len(xs))
	for i, n := range grad.Of(c.reshape(y), xs...) {
		out[i] = c.is(i, n)
	}
	return out
}

func cutAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = cut(name)
	}
	return out
}

// optimised calls step for each array that is optimised, with its derivative and what the optimiser
// keeps, and returns the new arrays, then the first of what is kept of each, and so on. The first two
// operands are the rate and the number of steps before.
func (c *call) optimised(kept int, step func(rate, t *graph.Node, x []*graph.Node) []*graph.Node) []value {
	n := (len(c.in) - 2) / (2 + kept)
	if n < 1 || len(c.in) != 2+n*(2+kept) {
		c.fail("%d operands: want a rate, a number of steps, and %d for each array", len(c.in), 2+kept)
	}
	out := make([]value, n*(1+kept))
	for i := range n {
		var x []*graph.Node
		for k := range 2 + kept {
			x = append(x, c.x(2+k*n+i))
		}
		rate, t := ops.Cast(c.single(c.x(0)), x[0].DType()), ops.Cast(c.single(c.x(1)), x[0].DType())
		for k, y := range step(rate, t, x) {
			out[k*n+i] = c.is(2+i, y)
		}
	}
	return out
}

// decayed returns the derivative of an array with that of its squares.
func (c *call) decayed(x, g *graph.Node) *graph.Node {
	if norm := c.float("norm_coefficient", 0); norm != 0 {
		return ops.Add(g, ops.Scale(x, norm))
	}
	return g
}

// first returns a where t > 0 and b elsewhere.
func first(t, a, b *graph.Node) *graph.Node { return ops.Select(ops.Greater(t, ops.Lit(t, 0)), a, b) }

func adagrad(c *call) []value {
	return c.optimised(1, func(rate, t *graph.Node, x []*graph.Node) []*graph.Node {
		rate = ops.Div(rate, ops.Shift(ops.Scale(t, c.float("decay_factor", 0)), 1))
		g := c.decayed(x[0], x[1])
		h := ops.Add(x[2], ops.Square(g))
		return []*graph.Node{ops.Sub(x[0], ops.Div(ops.Mul(rate, g), ops.Shift(ops.Sqrt(h), c.float("epsilon", 1e-6)))), h}
	})
}

func adam(c *call) []value {
	α, β := c.float("alpha", 0.9), c.float("beta", 0.999)
	return c.optimised(2, func(rate, t *graph.Node, x []*graph.Node) []*graph.Node {
		g := c.decayed(x[0], x[1])
		v := ops.Add(ops.Scale(x[2], α), ops.Scale(g, 1-α))
		h := ops.Add(ops.Scale(x[3], β), ops.Scale(ops.Square(g), 1-β))
		left := func(b float64) *graph.Node { return ops.OneMinus(ops.Pow(ops.Lit(t, b), t)) }
		rate = first(t, ops.Div(ops.Mul(rate, ops.Sqrt(left(β))), left(α)), rate)
		y := ops.Sub(x[0], ops.Div(ops.Mul(rate, v), ops.Shift(ops.Sqrt(h), c.float("epsilon", 1e-6))))
		return []*graph.Node{c.times(y, 1-c.float("norm_coefficient_post", 0)), v, h}
	})
}

func momentum(c *call) []value {
	α, β, mode := c.float("alpha", 0), c.float("beta", 0), c.text("mode", "")
	if mode != "standard" && mode != "nesterov" {
		c.fail("mode %q: want standard or nesterov", mode)
	}
	return c.optimised(1, func(rate, t *graph.Node, x []*graph.Node) []*graph.Node {
		g := c.decayed(x[0], x[1])
		v := ops.Add(ops.Scale(x[2], α), ops.Mul(first(t, ops.Lit(t, β), ops.Lit(t, 1)), g))
		d := v
		if mode == "nesterov" {
			d = ops.Add(g, ops.Scale(v, α))
		}
		return []*graph.Node{ops.Sub(x[0], ops.Mul(rate, d)), v}
	})
}
