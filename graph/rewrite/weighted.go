package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// manyWeighted is how many times more rows than columns an array of weighted rows has whose product
// with a matrix comes last: the product is then taken of few rows, and its cost does not count.
const manyWeighted = 16

// A weightedProduct is the array w∘(X·B), whose row i is w_i·(X·B)_i. As (w∘X)·B it has its product
// last, which can follow a sum over the rows: the derivative of Σ_i w_i·|X·B|_i² by B then reads X
// rather than X·B, which nobody has to keep.
type weightedProduct struct {
	x, b, w *graph.Node // w is repeated along the columns
}

// weightedProductOf returns the parts of an array [… i e] of that form where X has no more columns
// than the array.
func weightedProductOf(n *graph.Node) (p weightedProduct, ok bool) {
	if !match.Is(n, match.Mul) || n.Rank() < 2 {
		return p, false
	}
	last := n.Rank() - 1
	for i := range 2 {
		m, w := n.In(i), n.In(1-i)
		if match.Is(m, match.Reshape) && m.Shape().SameSizes(m.In(0).Shape()) {
			m = m.In(0)
		}
		if !match.Is(m, match.MatMul) || !m.Shape().SameSizes(n.Shape()) || m.In(0).Dim(last) > n.Dim(last) || !match.Is(w, match.Broadcast) {
			continue
		}
		if small := widened(w); small.Dim(last) == 1 && small.Dim(last-1) > 1 {
			return weightedProduct{m.In(0), m.In(1), w}, true
		}
	}
	return p, false
}

// split returns w∘X and B. Their outer axes have the names of the array n = w∘(X·B).
func (p weightedProduct) split(n *graph.Node) (x, b *graph.Node) {
	last := n.Rank() - 1
	inner := p.x.Shape().Axis(last)
	if slices.ContainsFunc(n.Shape().Axes(), func(a graph.Axis) bool { return a.Name == inner.Name }) {
		inner.Name = ""
	}
	rows, below, weights := n.Shape().Axes(), n.Shape().Axes(), widened(p.w).Axes()
	rows[last], below[last-1] = inner, inner
	for a := range weights {
		weights[a].Name = rows[a].Name
	}
	return ops.Mul(reshape(p.x, rows), repeat(reshape(p.w.In(0), weights), rows)), reshape(p.b, below)
}

// unnamed returns x without the name of its last axis, which the other operand of a product may
// have for another axis.
func unnamed(x *graph.Node) *graph.Node {
	axes := x.Shape().Axes()
	axes[len(axes)-1].Name = ""
	return reshape(x, axes)
}

// productOfWeighted takes the product of weighted rows with another array first, and that with the
// matrix afterwards.
func productOfWeighted(n *graph.Node) *graph.Node {
	if !match.Is(n, match.MatMul) {
		return nil
	}
	last := n.Rank() - 1
	split := func(at *graph.Node) (x, b *graph.Node, ok bool) {
		p, ok := weightedProductOf(at)
		if !ok || at.Dim(last-1) < manyWeighted*p.x.Dim(last) {
			return nil, nil, false
		}
		x, b = p.split(at)
		return unnamed(x), b, true
	}
	if order, ok := match.Permuted(n.In(0)); ok && order[last] == last-1 && order[last-1] == last {
		if x, b, ok := split(n.In(0).In(0)); ok {
			s := ops.MatMul(ops.Transpose(x, anys(order)...), n.In(1))
			return ops.ReshapeTo(ops.MatMul(ops.Transpose(b, anys(order)...), s), n.Shape())
		}
	}
	if x, b, ok := split(n.In(1)); ok {
		return ops.ReshapeTo(ops.MatMul(ops.MatMul(n.In(0), x), b), n.Shape())
	}
	return nil
}

// sumOfWeighted adds weighted rows up before their product with the matrix.
func sumOfWeighted(n *graph.Node) *graph.Node {
	at, axes, ok := match.Summed(n)
	if !ok || at.Rank() < 2 || !axes.Has(at.Rank()-2) {
		return nil
	}
	p, ok := weightedProductOf(at)
	if !ok || at.Dim(at.Rank()-2) < manyWeighted {
		return nil
	}
	x, b := p.split(at)
	y := ops.MatMul(ops.Sum(x, at.Rank()-2, ops.Keep), b)
	var rest []any
	for _, a := range axes.List() {
		if a != at.Rank()-2 {
			rest = append(rest, a)
		}
	}
	return ops.ReshapeTo(sumKept(y, rest), n.Shape())
}
