package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// products has matrix products.
var products = map[string]rule{
	"Det":    unary(ops.Det),
	"Gemm":   gemm,
	"MatMul": matMul,
}

// matMul is a product of matrices of any type.
func matMul(c *call) []value {
	a, b := c.x(0), c.x(1)
	if a.DType().IsFloat() {
		return []value{c.is(0, ops.MatMul(batches(a, b)))}
	}
	// Sums of integers wrap around: the terms are added as integers.
	return []value{as(c.in[0].elem, wholeProduct(bare(a), bare(b)))}
}

// batches returns matrices whose batches broadcast as in NumPy: where each would be repeated along the
// other, both have as many axes.
func batches(a, b *graph.Node) (_, _ *graph.Node) {
	if min(a.Rank(), b.Rank()) < 3 || a.Rank() == b.Rank() {
		return a, b
	}
	a, b = lifted(a, b.Rank()-a.Rank()), lifted(b, a.Rank()-b.Rank())
	return a, b
}

// lifted returns x with n axes of size 1 before its own.
func lifted(x *graph.Node, n int) *graph.Node {
	for range n {
		x = ops.Expand(x, 0, "")
	}
	return x
}

// wholeProduct returns the matrix product of integers, by the sum of all terms.
func wholeProduct(a, b *graph.Node) *graph.Node {
	row, column := a.Rank() == 1, b.Rank() == 1
	if row {
		a = ops.Expand(a, 0, "")
	}
	if column {
		b = ops.Expand(b, 1, "")
	}
	a, b = lifted(a, b.Rank()-a.Rank()), lifted(b, a.Rank()-b.Rank())
	y := ops.Sum(ops.Mul(ops.Expand(a, -1, ""), ops.Expand(b, -3, "")), -2)
	if row {
		y = ops.Squeeze(y, -2)
	}
	if column {
		y = ops.Squeeze(y, -1)
	}
	return y
}

// gemm is α·A·B + β·C, with A and B transposed where the attributes say so.
func gemm(c *call) []value {
	a, b := c.x(0), c.x(1)
	if a.Rank() != 2 || b.Rank() != 2 {
		c.fail("matrices with %d and %d axes: want 2 each", a.Rank(), b.Rank())
	}
	if c.int("transA", 0) != 0 {
		a = ops.Transpose(a)
	}
	if c.int("transB", 0) != 0 {
		b = relaid(b, 1, 0)
	}
	var y *graph.Node
	if a.DType().IsFloat() {
		y = ops.MatMul(a, b)
	} else {
		y = wholeProduct(bare(a), bare(b))
	}
	y = c.times(y, c.float("alpha", 1))
	if c.has(2) {
		y = ops.Add(y, c.times(c.x(2), c.float("beta", 1)))
	}
	return []value{as(c.in[0].elem, y)}
}

// times returns n times a number; an integer loses its fraction then.
func (c *call) times(n *graph.Node, v float64) *graph.Node {
	switch {
	case v == 1:
		return n
	case n.DType().IsFloat():
		return ops.Scale(n, v)
	}
	return ops.Cast(ops.Scale(ops.Cast(n, graph.F64), v), n.DType())
}
