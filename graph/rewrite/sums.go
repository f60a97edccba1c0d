package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// sums lists the rules by which a sum is taken of a smaller array, before a product rather than after
// it. They run once gradients are derived, which have most of these sums: of what was repeated on
// the way here, on the way back.
var sums = []Rule{
	{"sum before a product", "Σ_k x_ik·a_i = a_i·Σ_k x_ik, and so with quotients", sumFirst},
	{"sum before two products", "Σ_i x_ij·(y_ij·a_j) = a_j·Σ_i y_ij·x_ij: the sum is often there already, of the derivative by a", sumFirstOfTwo},
	{"sum of a matrix product", "Σ_j (A·B)_ij = A·Σ_j B_j, and Σ_i (A·B)_ij = (Σ_i A_i)·B", sumOfMatMul},
	{"sum with unit vectors", "Σ_j δ_ij·x_j = x_i, also where another x_j is not finite: a Jacobian is a derivative by all unit vectors at once", chosenByUnits},
	{"sum of scaled products", "Σ_j w_jv (X_j·B)_v is the one product of all X_j, beside each other, and all B·w_j, below each other",
		sumOfScaled},
	{"sum of weighted rows", "Σ_i w_i (X·B)_i = (Σ_i w_i X_i)·B, where X has no more columns than X·B", sumOfWeighted},
	{"product of weighted rows", "(w∘(X·B))ᵀ·Y = Bᵀ·((w∘X)ᵀ·Y) and A·(w∘(X·B)) = (A·(w∘X))·B for numbers w_i of many rows, where X has no more columns than X·B: " +
		"what reads X need not keep X·B", productOfWeighted},
}

// sumFirst moves an array that is repeated along axes of a Sum out of it.
func sumFirst(n *graph.Node) *graph.Node {
	x, axes, ok := match.Summed(n)
	if !ok || !n.DType().IsFloat() || !match.Is(x, match.Mul) && !match.Is(x, match.Div) {
		return nil
	}
	for _, i := range []int{1, 0} {
		if i == 0 && match.Is(x, match.Div) || !x.In(1-i).Shape().SameSizes(x.Shape()) {
			continue
		}
		root, from := match.Laid(x.In(i))
		small := x.Shape().Axes() // of the other operand, without repetitions
		var first, rest []any
		inOrder, last := x.In(i).Rank() == x.Rank(), -1
		for a := range x.Rank() {
			if inOrder && from[a] >= 0 {
				inOrder, last = from[a] > last, from[a]
			} else {
				small[a].Size = 1
			}
			switch {
			case !axes.Has(a) || x.Dim(a) == 1:
			case small[a].Size == 1:
				first = append(first, a)
			default:
				rest = append(rest, a)
			}
		}
		if !inOrder || len(first) == 0 {
			continue
		}
		in := x.Inputs()
		in[1-i] = ops.Sum(in[1-i], append(first, ops.Keep)...)
		to := x.Shape().Axes() // the names of both operands: either may lack some
		for a := range to {
			to[a].Size = in[1-i].Dim(a)
		}
		in[i] = repeat(reshape(root, small), to)
		y := n.Graph().Apply(x.Op(), in...)
		return ops.ReshapeTo(sumKept(y, rest), n.Shape())
	}
	return nil
}

// sumFirstOfTwo moves an array that is repeated along all axes of a Sum out of it, where it is a
// factor of one of the two factors.
func sumFirstOfTwo(n *graph.Node) *graph.Node {
	x, axes, ok := match.Summed(n)
	if !ok || !n.DType().IsFloat() || !match.Is(x, match.Mul) {
		return nil
	}
	for i := range 2 {
		p, q := x.In(i), x.In(1-i)
		if !match.Is(q, match.Mul) || !p.Shape().SameSizes(x.Shape()) || !q.Shape().SameSizes(x.Shape()) {
			continue
		}
		for j := range 2 {
			a, y := q.In(j), q.In(1-j)
			if _, from := match.Laid(a); y.Shape().SameSizes(x.Shape()) && a.Rank() == x.Rank() && repeatsAlong(x.Shape(), from, axes) {
				if s := sumFirst(ops.Sum(ops.Mul(ops.Mul(y, p), a), anys(axes.List())...)); s != nil {
					return ops.ReshapeTo(s, n.Shape())
				}
			}
		}
	}
	return nil
}

// repeatsAlong reports whether an array, laid out so over a shape, is repeated along axes of it,
// one of which has several indices.
func repeatsAlong(s graph.Shape, laid []int, axes attr.AxisSet) bool {
	several := false
	for _, a := range axes.List() {
		if s.Dim(a) > 1 {
			if several = true; laid[a] >= 0 {
				return false
			}
		}
	}
	return several
}

// repeat is x repeated along its axes of size 1 where the result has more.
func repeat(x *graph.Node, axes []graph.Axis) *graph.Node {
	s, err := graph.NewShape(axes...)
	if err != nil {
		return x.Graph().Fail("repeat", err, x)
	}
	return ops.BroadcastTo(x, s)
}

// sumKept is the sum of x over some axes, which stay with size 1; x itself if there are none.
func sumKept(x *graph.Node, axes []any) *graph.Node {
	if len(axes) == 0 {
		return x
	}
	return ops.Sum(x, append(axes, ops.Keep)...)
}

// sumOfMatMul takes the sum over the columns of a product of its right operand, and that over its
// rows of its left one, unless that operand is the larger.
func sumOfMatMul(n *graph.Node) *graph.Node {
	x, axes, ok := match.Summed(n)
	if !ok {
		return nil
	}
	if match.Is(x, match.Reshape) && x.Shape().SameSizes(x.In(0).Shape()) {
		x = x.In(0)
	}
	if !match.Is(x, match.MatMul) {
		return nil
	}
	a, b, last := x.In(0), x.In(1), x.Rank()-1
	rows, inner, cols := x.Dim(last-1), a.Dim(last), x.Dim(last)
	var rest []any
	for k := range last - 1 {
		if axes.Has(k) {
			rest = append(rest, k)
		}
	}
	byRows := axes.Has(last-1) && rows > 1 && inner <= cols
	byCols := axes.Has(last) && cols > 1 && inner <= rows
	if !byRows && !byCols {
		return nil
	}
	if byRows {
		a = ops.Sum(a, last-1, ops.Keep)
	} else if axes.Has(last - 1) {
		rest = append(rest, last-1)
	}
	if byCols {
		b = ops.Sum(b, last, ops.Keep)
	} else if axes.Has(last) {
		rest = append(rest, last)
	}
	return ops.ReshapeTo(sumKept(n.Graph().Apply(x.Op(), a, b), rest), n.Shape())
}

// A product of at most scaledInner terms costs no more than what multiplies its result and adds it up.
const scaledInner = 16

// sumOfScaled makes the sum over some blocks of rows of a product, whose columns each block multiplies
// by numbers of its own, one product with more terms.
func sumOfScaled(n *graph.Node) *graph.Node {
	s, axes, ok := match.Summed(n)
	if !ok || !match.Is(s, match.Mul) || axes.Has(s.Rank()-1) {
		return nil
	}
	for i := range 2 {
		p, w := s.In(i), s.In(1-i)
		if match.Is(p, match.Reshape) {
			p = p.In(0)
		}
		if match.Is(p, match.MatMul) && p.Rank() == 2 && match.Is(w, match.Broadcast) && s.Rank() > 1 && p.Dim(1) == s.Dim(s.Rank()-1) {
			if y := scaledTogether(n, s, axes, p, w); y != nil {
				return y
			}
		}
	}
	return nil
}

// scaledTogether is [sumOfScaled] of s, which is the product p times w.
func scaledTogether(n, s *graph.Node, axes attr.AxisSet, p, w *graph.Node) *graph.Node {
	last, inner, cols := s.Rank()-1, p.In(0).Dim(1), p.Dim(1)
	small := widened(w)
	if small.Dim(last) != cols {
		return nil // whole blocks are scaled
	}
	rows, blocks := 1, 1
	var order, over []any
	var sizes, scales []int // of the blocks, and of what they are multiplied by
	for a := range last {
		if !axes.Has(a) {
			if small.Dim(a) > 1 {
				return nil
			}
			rows *= s.Dim(a)
			order = append(order, a)
			continue
		}
		blocks *= s.Dim(a)
		over = append(over, a)
		sizes, scales = append(sizes, s.Dim(a)), append(scales, small.Dim(a))
	}
	if inner > scaledInner || 2*inner > rows || blocks == 1 {
		return nil
	}
	lead := s.Shape().Sizes()[:last]
	x := ops.Transpose(reshape(p.In(0), graph.Dims(append(lead, inner)...)), append(append(order, over...), last)...)
	all, err := graph.NewShape(graph.Dims(append(sizes, inner, cols)...)...)
	if err != nil {
		return nil
	}
	b := ops.Mul(ops.BroadcastTo(reshape(p.In(1), graph.Dims(inner, cols)), all),
		ops.BroadcastTo(reshape(w.In(0), graph.Dims(append(scales, 1, cols)...)), all))
	y := ops.MatMul(reshape(x, graph.Dims(rows, blocks*inner)), reshape(b, graph.Dims(blocks*inner, cols)))
	return ops.ReshapeTo(y, n.Shape())
}
