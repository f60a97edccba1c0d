package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// draws has the operators that draw random numbers: from the seed of the program, as all draws here,
// whatever the attribute seed says.
var draws = map[string]rule{
	"Bernoulli":         bernoulli,
	"Multinomial":       multinomial,
	"RandomNormal":      func(c *call) []value { return c.draw(normal, c.drawn(), format.Float) },
	"RandomNormalLike":  func(c *call) []value { return c.draw(normal, c.x(0).Shape(), c.in[0].elem) },
	"RandomUniform":     func(c *call) []value { return c.draw(uniform, c.drawn(), format.Float) },
	"RandomUniformLike": func(c *call) []value { return c.draw(uniform, c.x(0).Shape(), c.in[0].elem) },
}

// drawn returns the shape that an attribute says.
func (c *call) drawn() graph.Shape { return c.shape(c.list("shape")...) }

func normal(c *call, dt graph.DType, shape graph.Shape) *graph.Node {
	z := ops.RandomNormal(c.g, "normal", dt, shape.Axes()...)
	return ops.Shift(ops.Scale(z, c.float("scale", 1)), c.float("mean", 0))
}

func uniform(c *call, dt graph.DType, shape graph.Shape) *graph.Node {
	lo, hi := c.float("low", 0), c.float("high", 1)
	u := ops.RandomUniform(c.g, "uniform", dt, shape.Axes()...)
	return ops.Shift(ops.Scale(u, hi-lo), lo)
}

// draw draws numbers of the type that the attribute dtype says, or another.
func (c *call) draw(f func(c *call, dt graph.DType, shape graph.Shape) *graph.Node, shape graph.Shape, otherwise format.DataType) []value {
	elem, dt := c.typed("dtype", otherwise)
	if !dt.IsFloat() {
		c.fail("random numbers of %v: want floats", elem)
	}
	return []value{{node: f(c, dt, shape), elem: elem}}
}

// bernoulli draws 1 with the probabilities that the operand has, and 0 otherwise.
func bernoulli(c *call) []value {
	elem, dt := c.typed("dtype", c.in[0].elem)
	p := c.x(0)
	return []value{{node: ops.Cast(ops.Less(ops.RandomUniform(c.g, "bernoulli", p.DType(), p.Shape().Axes()...), p), dt), elem: elem}}
}

// multinomial draws indices from each row of logits [batch classes].
func multinomial(c *call) []value {
	logits := c.x(0)
	if logits.Rank() != 2 {
		c.fail("logits with %d axes: want [batch classes]", logits.Rank())
	}
	elem, dt := c.typed("dtype", format.Int32)
	n := c.int("sample_size", 1)
	if n < 1 || n > 1<<24 {
		c.fail("a sample of %d", n)
	}
	rows := ops.BroadcastTo(ops.Expand(bare(logits), 1, ""), c.shape(logits.Dim(0), n, logits.Dim(1)))
	return []value{{node: ops.Cast(ops.RandomCategorical("multinomial", rows, -1), dt), elem: elem}}
}
