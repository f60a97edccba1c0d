package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// reductions has the operators that remove axes or leave them with size 1.
var reductions = map[string]rule{
	"ArgMax":          arg(ops.ArgMax),
	"ArgMin":          arg(ops.ArgMin),
	"ReduceL1":        reduce(sumOf(ops.Abs)),
	"ReduceL2":        reduce(overFloats(ops.Norm)),
	"ReduceLogSum":    reduce(overFloats(func(x *graph.Node, axes ...any) *graph.Node { return ops.Log(ops.Sum(x, axes...)) })),
	"ReduceLogSumExp": reduce(overFloats(ops.LogSumExp)),
	"ReduceMax":       reduce(ops.Max),
	"ReduceMean":      reduce(meanOver),
	"ReduceMin":       reduce(ops.Min),
	"ReduceProd":      reduce(ops.Prod),
	"ReduceSum":       reduce(ops.Sum),
	"ReduceSumSquare": reduce(sumOf(func(x *graph.Node) *graph.Node { return ops.Mul(x, x) })),
}

type reduction func(x *graph.Node, axes ...any) *graph.Node

// reduce is the rule of a reduction, over axes that are an attribute or, since some version,
// operand 1; without any, over all.
func reduce(f reduction) rule {
	return func(c *call) []value {
		x := c.x(0)
		axes := c.axes(c.attrOrInts("axes", 1), x.Rank())
		if len(axes) == 0 {
			if c.int("noop_with_empty_axes", 0) != 0 {
				return c.in[:1]
			}
			axes = anys(upTo(x.Rank()))
		}
		if len(axes) == 0 { // a scalar is its own sum; an axis of size 1 is added for what f makes of it
			return []value{as(c.in[0].elem, f(c.reshape(x, 1), 0))}
		}
		if c.int("keepdims", 1) != 0 {
			axes = append(axes, ops.Keep)
		}
		return []value{as(c.in[0].elem, f(x, axes...))}
	}
}

// axes returns different axes of a rank, counted from 0.
func (c *call) axes(list []int, rank int) []any {
	var out []any
	for _, a := range list {
		n := any(c.axis(a, rank))
		if slices.Contains(out, n) {
			c.fail("axis %d is given twice", a)
		}
		out = append(out, n)
	}
	return out
}

// upTo returns 0, 1, …, n−1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// sumOf returns the reduction Σ f(x).
func sumOf(f func(*graph.Node) *graph.Node) reduction {
	return func(x *graph.Node, axes ...any) *graph.Node { return ops.Sum(f(x), axes...) }
}

// overFloats returns a reduction of floats for integers too, which it converts to float64 and back.
func overFloats(f reduction) reduction {
	return func(x *graph.Node, axes ...any) *graph.Node {
		return ofFloats(func(x *graph.Node) *graph.Node { return f(x, axes...) })(x)
	}
}

// meanOver drops the fraction of the mean of integers.
func meanOver(x *graph.Node, axes ...any) *graph.Node {
	if x.DType().IsFloat() {
		return ops.Mean(x, axes...)
	}
	sum := ops.Sum(x, axes...)
	return quotient(sum, ops.Lit(sum, float64(x.Shape().Len()/max(sum.Shape().Len(), 1))))
}

func arg(f func(x *graph.Node, axis any) *graph.Node) rule {
	return func(c *call) []value {
		x := c.x(0)
		axis := c.axis(c.int("axis", 0), x.Rank())
		last := c.int("select_last_index", 0) != 0
		if last {
			x = ops.Reverse(x, axis)
		}
		y := f(x, axis)
		if last {
			y = ops.Sub(ops.Lit(y, float64(x.Dim(axis)-1)), y)
		}
		if c.int("keepdims", 1) != 0 {
			y = ops.Expand(y, axis, "")
		}
		return []value{{node: y, elem: format.Int64}}
	}
}

// softmaxes has the operators along an axis, which is the last by default; before version 13 they
// take all elements from an axis on, by default the second, as one.
var softmaxes = map[string]rule{
	"Hardmax":    along(hardmax),
	"LogSoftmax": along(ops.LogSoftmax),
	"Softmax":    along(ops.Softmax),
}

func along(f func(x *graph.Node, axis any) *graph.Node) rule {
	return func(c *call) []value {
		x := c.x(0)
		otherwise := -1
		if c.version() < 13 {
			otherwise = 1
		}
		var axis int
		switch a := c.int("axis", otherwise); {
		case c.version() < 13 && a == x.Rank():
			return []value{c.is(0, c.reshape(f(c.flat(x, a), 1), x.Shape().Sizes()...))}
		default:
			axis = c.axis(a, x.Rank())
		}
		if x.Shape().Len() == 0 {
			return c.in[:1]
		}
		if c.version() < 13 && product(x.Shape().Sizes()[axis:]) != x.Dim(axis) {
			return []value{c.is(0, c.reshape(f(c.flat(x, axis), 1), x.Shape().Sizes()...))}
		}
		return []value{c.is(0, f(x, axis))}
	}
}

func hardmax(x *graph.Node, axis any) *graph.Node {
	a := axis.(int)
	return ops.OneHot(ops.ArgMax(x, a), a, x.Shape().Axis(a), x.DType())
}

// flat returns x as a matrix: of the axes before one, and of those from it on.
func (c *call) flat(x *graph.Node, axis int) *graph.Node {
	s := x.Shape().Sizes()
	return c.reshape(x, product(s[:axis]), product(s[axis:]))
}
