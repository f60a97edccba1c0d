package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// specialise lists the rules that replace a large intermediate by an operation that never holds it.
var specialise = []Rule{
	{"pairwise distance", "Σ_d (x_id − r_jd)² over laid-out operands is SqDist(x, r), without the i×j×d differences",
		func(n *graph.Node) *graph.Node {
			sq, axes, ok := reduced(n)
			if !ok {
				return nil
			}
			diff, ok := match.Squared(sq)
			if !ok {
				return nil
			}
			return pairwise(n, diff, axes)
		}},
	{"product of a batch", "matrices below each other times one matrix: one product, with one product as its derivative",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.MatMul) || n.Rank() < 3 || !match.Is(n.In(1), match.Broadcast) {
				return nil
			}
			a, b := n.In(0), n.In(1).In(0)
			if r := n.In(1).Rank(); b.Rank() < 2 || b.Dim(b.Rank()-2) != n.In(1).Dim(r-2) || b.Dim(b.Rank()-1) != n.In(1).Dim(r-1) {
				return nil // the matrix itself is made by repeating
			}
			for k := range b.Rank() - 2 {
				if b.Dim(k) > 1 {
					return nil
				}
			}
			// The rows of a repeated or transposed array are not one below the other.
			if match.Is(a, match.Broadcast) || match.Is(a, match.Transpose) {
				return nil
			}
			last := a.Rank() - 1
			below := graph.Axis{Size: 1}
			for k := range last {
				below.Size *= a.Dim(k)
			}
			y := ops.MatMul(reshape(a, []graph.Axis{below, a.Shape().Axis(last)}), reshape(b, b.Shape().Axes()[b.Rank()-2:]))
			return ops.ReshapeTo(y, n.Shape())
		}},
}

// pairwise brings the operands of a difference, however it is written, into the
// forms x[… i d] and r[… j d]. The reduced axes along which both vary are merged
// into d; the axes that vary with x alone are merged into i, those that vary with r
// alone into j; the rest is a batch. Other reduced axes are reduced afterwards.
func pairwise(n, diff *graph.Node, over attr.AxisSet) *graph.Node {
	if !match.Is(diff, match.Sub) && !match.Is(diff, match.Add) {
		return nil
	}
	x, xa, minusX := laid(diff.In(0))
	r, ra, minusR := laid(diff.In(1))
	if (minusX != minusR) == match.Is(diff, match.Sub) {
		return nil // a sum
	}
	whole := diff.Shape()
	var batch, i, j, d, single []int
	for k := range whole.Rank() {
		switch inX, inR := xa[k] >= 0, ra[k] >= 0; {
		case inX && inR && over.Has(k):
			d = append(d, k)
		case inX && inR:
			batch = append(batch, k)
		case inX:
			i = append(i, k)
		case inR:
			j = append(j, k)
		case whole.Dim(k) > 1:
			return nil // both are repeated
		case over.Has(k):
			single = append(single, k)
		}
	}
	if len(d) == 0 && len(single) > 0 {
		d = single[:1]
	}
	if len(i) == 0 || len(j) == 0 || len(d) == 0 {
		return nil // nothing is repeated, so nothing is gained
	}
	axes := func(list ...int) (out []graph.Axis) {
		for _, a := range list {
			out = append(out, whole.Axis(a))
		}
		return out
	}
	rows := func(root *graph.Node, laid, own []int) *graph.Node {
		var refs []any
		used := map[int]bool{}
		for _, a := range slices.Concat(batch, own, d) {
			if laid[a] >= 0 {
				refs = append(refs, laid[a])
				used[laid[a]] = true
			}
		}
		for a := range root.Rank() { // axes of size 1 that belong to none
			if !used[a] {
				refs = append(refs, a)
			}
		}
		if len(refs) > 0 {
			root = ops.Transpose(root, refs...)
		}
		return reshape(root, append(axes(batch...), merged(axes(own...)), merged(axes(d...))))
	}
	s := ops.SqDist(rows(x, xa, i), rows(r, ra, j))
	// Bring the axes back into their order, without d, and reduce the others.
	order := slices.Concat(batch, i, j)
	var refs, rest []any
	for k := range whole.Rank() {
		if at := slices.Index(order, k); at >= 0 {
			if over.Has(k) {
				rest = append(rest, len(refs))
			}
			refs = append(refs, at)
		}
	}
	s = ops.Transpose(reshape(s, axes(order...)), refs...)
	if len(rest) > 0 {
		s = ops.Sum(s, rest...)
	}
	if match.Is(n, match.Mean) {
		s = ops.Div(s, ops.Lit(s, float64(whole.Len()/n.Shape().Len())))
	}
	return ops.ReshapeTo(s, n.Shape())
}

// laid is match.Laid through negations.
func laid(n *graph.Node) (root *graph.Node, axes []int, minus bool) {
	root, axes = match.Laid(n)
	for match.Is(root, match.Neg) {
		inner, of := match.Laid(root.In(0))
		for i, a := range axes {
			if a >= 0 {
				axes[i] = of[a]
			}
		}
		root, minus = inner, !minus
	}
	return root, axes, minus
}

// merged returns one axis for several neighbours; a single one keeps its name.
func merged(axes []graph.Axis) graph.Axis {
	if len(axes) == 1 {
		return axes[0]
	}
	size := 1
	for _, a := range axes {
		size *= a.Size
	}
	return graph.Axis{Size: size}
}

func reshape(x *graph.Node, axes []graph.Axis) *graph.Node {
	s, err := graph.NewShape(axes...)
	if err != nil {
		return x.Graph().Fail("specialise", err, x)
	}
	return ops.ReshapeTo(x, s)
}
