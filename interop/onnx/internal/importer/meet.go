package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// meet returns operands that work together element by element as the file means it: by the
// broadcasting of NumPy, or as the attributes broadcast and axis of versions before 7 say. Operands
// that ours broadcasts in the same way are as they were.
func (c *call) meet(xs ...*graph.Node) []*graph.Node {
	if c.version() < 7 && len(xs) == 2 {
		xs[1] = c.old(xs[0], xs[1])
	}
	return c.broadcast(xs...)
}

// broadcast returns operands that meet by the broadcasting of NumPy.
func (c *call) broadcast(xs ...*graph.Node) []*graph.Node {
	shapes := make([]graph.Shape, len(xs))
	rank := 0
	for i, x := range xs {
		shapes[i] = x.Shape()
		rank = max(rank, x.Rank())
	}
	if _, err := graph.Align(shapes...); err == nil {
		return xs
	}
	// Pairs of a column and a list are told by axes of size 1. Names are dropped where they differ.
	out := slices.Clone(xs)
	for i, x := range xs {
		out[i] = c.reshape(x, append(ones(rank-x.Rank()), x.Shape().Sizes()...)...)
		shapes[i] = out[i].Shape()
	}
	if _, err := graph.Align(shapes...); err != nil {
		c.fail("operands of shapes %v do not broadcast", sizesOf(xs))
	}
	return out
}

// old returns operand b of a version before 7, laid out so that it meets a by the last axes.
func (c *call) old(a, b *graph.Node) *graph.Node {
	if c.int("broadcast", 0) == 0 {
		if !a.Shape().SameSizes(b.Shape()) {
			c.fail("operands of shapes %v without the attribute broadcast", sizesOf([]*graph.Node{a, b}))
		}
		return b
	}
	if c.attr("axis") == nil || b.Rank() == 0 {
		return b
	}
	at := c.axis(c.int("axis", 0), a.Rank())
	if at+b.Rank() > a.Rank() {
		c.fail("an operand of %d axes from axis %d of %d on", b.Rank(), at, a.Rank())
	}
	return c.reshape(b, append(b.Shape().Sizes(), ones(a.Rank()-b.Rank()-at)...)...)
}

// reshape returns x in row-major order with axes of the given sizes, without names unless nothing
// changes.
func (c *call) reshape(x *graph.Node, sizes ...int) *graph.Node {
	if slices.Equal(sizes, x.Shape().Sizes()) && !named(x) {
		return x
	}
	return ops.ReshapeTo(x, c.shape(sizes...))
}

// shape returns a shape whose axes have no names.
func (c *call) shape(sizes ...int) graph.Shape {
	s, err := graph.NewShape(graph.Dims(sizes...)...)
	if err != nil {
		c.fail("%v", err)
	}
	return s
}

func named(x *graph.Node) bool {
	return slices.ContainsFunc(x.Shape().Axes(), func(a graph.Axis) bool { return a.Name != "" })
}

func sizesOf(xs []*graph.Node) [][]int {
	out := make([][]int, len(xs))
	for i, x := range xs {
		out[i] = x.Shape().Sizes()
	}
	return out
}

// ones returns n times 1.
func ones(n int) []int { return slices.Repeat([]int{1}, n) }

// product returns the number of elements of axes.
func product(sizes []int) int {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	return n
}

// places returns the numbers from from to to−1, as axes.
func places(from, to int) []any {
	var out []any
	for a := from; a < to; a++ {
		out = append(out, a)
	}
	return out
}

// anys returns integers as axes.
func anys(list []int) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
