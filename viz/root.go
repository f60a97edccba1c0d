package viz

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// root returns the number by which a product y multiplies, its operand k, as √n or 1/√n, where n is
// the size of an axis of the other operand: e/√64 and not 0.125·e. A derivative has it from the
// product that it is the derivative of.
func root(y *graph.Node, k int) (e expr.Expr, ok bool) {
	if !match.Is(y, match.Mul) {
		return e, false
	}
	v, ok := match.Literal(y.In(k))
	if !ok {
		return e, false
	}
	if under, n, ok := rootOf(y, v, y.In(1-k)); ok {
		e = expr.Call("√", decimal(float64(n)))
		if under {
			e = decimal(1).Over(e)
		}
		return e, true
	}
	if o := y.First().Origin; o.Kind == graph.FromGrad && match.Is(o.Of, match.Mul) {
		for i := range 2 {
			if w, ok := match.Literal(o.Of.In(i)); ok && w == v && o.Of.First().Origin.Kind != graph.FromGrad {
				return root(o.Of, i)
			}
		}
	}
	return e, false
}

// rootOf reports whether v is the rounded root of the size n of an axis that x has or a product in x
// sums over, or 1 over the root. Where the root is a whole number, only 1 over the root of a size
// that a product of two arrays sums over is taken for one: 0.5 is a half everywhere else.
func rootOf(y *graph.Node, v float64, x *graph.Node) (under bool, n int, ok bool) {
	x, _ = match.Laid(x)
	var sizes []int
	summed := 0
	if match.Is(x, match.MatMul) {
		summed = x.In(0).Dim(x.In(0).Rank() - 1)
		sizes = append(sizes, summed)
	}
	sizes = append(sizes, x.Shape().Sizes()...)
	for _, n := range sizes {
		r := math.Sqrt(float64(n))
		whole := r == math.Trunc(r)
		switch {
		case n < 2:
		case v == y.DType().Round(1/r) && (!whole || n == summed):
			return true, n, true
		case v == y.DType().Round(r) && !whole:
			return false, n, true
		}
	}
	return false, 0, false
}
