package importer

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// elementwise has the operators that compute numbers element by element.
var elementwise = map[string]rule{
	"Abs":        unary(ops.Abs),
	"Acos":       unary(ops.Acos),
	"Acosh":      unary(ops.Acosh),
	"Add":        binary(pair(ops.Add)),
	"Asin":       unary(ops.Asin),
	"Asinh":      unary(ops.Asinh),
	"Atan":       unary(ops.Atan),
	"Atanh":      unary(ops.Atanh),
	"BitShift":   bitShift,
	"Ceil":       unary(ops.Ceil),
	"Clip":       clip,
	"Cos":        unary(ops.Cos),
	"Cosh":       unary(ops.Cosh),
	"Div":        binary(quotient),
	"Erf":        unary(ofFloats(ops.Erf)),
	"Exp":        unary(ops.Exp),
	"Floor":      unary(ops.Floor),
	"Log":        unary(ops.Log),
	"Max":        many(ops.Maximum),
	"Mean":       mean,
	"Min":        many(ops.Minimum),
	"Mod":        mod,
	"Mul":        binary(times),
	"Neg":        unary(ops.Neg),
	"Pow":        pow,
	"Reciprocal": unary(func(x *graph.Node) *graph.Node { return ops.Div(ops.Lit(x, 1), x) }),
	"Round":      unary(ops.Round),
	"Sign":       unary(ops.Sign),
	"Sin":        unary(ops.Sin),
	"Sinh":       unary(ops.Sinh),
	"Sqrt":       unary(ops.Sqrt),
	"Sub":        binary(ops.Sub),
	"Sum":        many(pair(ops.Add)),
	"Tan":        unary(ops.Tan),
	"Tanh":       unary(ops.Tanh),
}

func unary(f func(*graph.Node) *graph.Node) rule {
	return func(c *call) []value { return []value{as(c.in[0].elem, f(c.x(0)))} }
}

func binary(f func(a, b *graph.Node) *graph.Node) rule {
	return func(c *call) []value {
		xs := c.meet(c.x(0), c.x(1))
		return []value{as(c.in[0].elem, f(xs[0], xs[1]))}
	}
}

// times returns a·b, and a² where they are the same, which is how files write it.
func times(a, b *graph.Node) *graph.Node {
	if a == b && a.DType().IsFloat() {
		return ops.Square(a)
	}
	return ops.Mul(a, b)
}

// pair is a function of many operands for two.
func pair(f func(...*graph.Node) *graph.Node) func(a, b *graph.Node) *graph.Node {
	return func(a, b *graph.Node) *graph.Node { return f(a, b) }
}

// many is a rule for any number of operands, which f joins from the left.
func many(f func(a, b *graph.Node) *graph.Node) rule {
	return func(c *call) []value { return []value{as(c.in[0].elem, c.chain(f))} }
}

func (c *call) chain(f func(a, b *graph.Node) *graph.Node) *graph.Node {
	y := c.x(0)
	for i := 1; i < len(c.in); i++ {
		xs := c.broadcast(y, c.x(i))
		y = f(xs[0], xs[1])
	}
	return y
}

func mean(c *call) []value {
	return []value{c.is(0, ops.Scale(c.chain(pair(ops.Add)), 1/float64(len(c.in))))}
}

func pow(c *call) []value {
	a, b := c.x(0), c.x(1)
	if a.DType().IsInt() {
		return []value{as(c.in[0].elem, c.power(a, b))}
	}
	if v, constant := b.Constant(); constant && len(v.Data) == 1 && v.Data[0] == 2 && b.Rank() <= a.Rank() {
		return []value{c.is(0, ops.Square(a))}
	}
	xs := c.meet(a, ops.Cast(b, a.DType()))
	return []value{c.is(0, ops.Pow(xs[0], xs[1]))}
}

func mod(c *call) []value {
	f := ops.Remainder
	if c.int("fmod", 0) != 0 {
		f = remainder
	}
	return binary(f)(c)
}

func bitShift(c *call) []value {
	direction, elem := c.text("direction", ""), c.in[0].elem
	if direction != "LEFT" && direction != "RIGHT" {
		c.fail("direction %q: want LEFT or RIGHT", direction)
	}
	xs := c.broadcast(c.x(0), c.x(1))
	return []value{as(elem, shifted(xs[0], xs[1], elem, direction == "LEFT"))}
}

// clip limits numbers to bounds: attributes before version 11, operands since. A lower bound above the
// upper one does not count.
func clip(c *call) []value {
	x := c.x(0)
	bound := func(name string, i int, otherwise float64) (*graph.Node, bool) {
		if c.has(i) {
			return c.reshape(c.x(i)), true
		}
		return ops.Lit(x, x.DType().Round(c.float(name, otherwise))), c.attr(name) != nil
	}
	lo, above := bound("min", 1, math.Inf(-1))
	hi, below := bound("max", 2, math.Inf(1))
	if !above && !below {
		return c.in[:1]
	}
	if l, ok := lo.Constant(); above && below {
		if h, known := hi.Constant(); !ok || !known || l.Data[0] > h.Data[0] {
			lo = ops.Minimum(lo, hi)
		}
	}
	return []value{c.is(0, ops.Clip(x, lo, hi))}
}

// truths has the operators on masks, and those whose results are masks.
var truths = map[string]rule{
	"And":            mask2(ops.And),
	"Equal":          mask2(ops.Equal),
	"Greater":        mask2(ops.Greater),
	"GreaterOrEqual": mask2(ops.GreaterEqual),
	"IsInf":          isInf,
	"IsNaN":          func(c *call) []value { return truth(ops.IsNaN(c.x(0))) },
	"Less":           mask2(ops.Less),
	"LessOrEqual":    mask2(ops.LessEqual),
	"Not":            func(c *call) []value { return truth(ops.Not(c.x(0))) },
	"Or":             mask2(ops.Or),
	"Where":          where,
	"Xor":            mask2(ops.NotEqual),
}

func truth(n *graph.Node) []value { return []value{{node: n, elem: format.Bool}} }

func mask2(f func(a, b *graph.Node) *graph.Node) rule {
	return func(c *call) []value {
		xs := c.meet(c.x(0), c.x(1))
		return truth(f(xs[0], xs[1]))
	}
}

func isInf(c *call) []value {
	x := c.x(0)
	low, high := c.int("detect_negative", 1) != 0, c.int("detect_positive", 1) != 0
	switch {
	case low && high:
		return truth(ops.IsInf(x))
	case low:
		return truth(ops.Equal(x, ops.Lit(x, math.Inf(-1))))
	case high:
		return truth(ops.Equal(x, ops.Lit(x, math.Inf(1))))
	}
	return truth(ops.Zeros(c.g, graph.Bool, x.Shape().Axes()...))
}

func where(c *call) []value {
	xs := c.broadcast(c.x(0), c.x(1), c.x(2))
	return []value{c.is(1, ops.Select(xs[0], xs[1], xs[2]))}
}
