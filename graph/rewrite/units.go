package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// A Jacobian maps a derivative over unit vectors, so that many of its sums only choose an element.

// chosenByUnits replaces a Sum of a product with the unit vectors δ_ij, where the other factors do
// not vary along i: Σ_j δ_ij·x_j is x_i. As written it is NaN for every i where some x_j is not
// finite; x_i is that for its own i alone, as the derivative of one element is.
func chosenByUnits(n *graph.Node) *graph.Node {
	x, axes, ok := match.Summed(n)
	if !ok || !match.Is(x, match.Mul) {
		return nil
	}
	factors := factorsOf(x)
	for k, u := range factors {
		i, j, ok := unitAxes(u)
		if !ok || u.Rank() != x.Rank() {
			continue
		}
		if axes.Has(i) {
			i, j = j, i
		}
		if axes.Has(i) || !axes.Has(j) {
			continue
		}
		var y *graph.Node
		for l, f := range factors {
			if l == k {
				continue
			}
			f = alongOther(f, x, i, j)
			if f == nil {
				return nil
			}
			if y == nil {
				y = f
			} else {
				y = ops.Mul(y, f)
			}
		}
		var rest []any
		for a := range x.Rank() {
			if axes.Has(a) && a != j && x.Dim(a) > 1 {
				rest = append(rest, a)
			}
		}
		return ops.ReshapeTo(sumKept(y, rest), n.Shape())
	}
	return nil
}

// factorsOf returns the operands of a product, and those of one that is an operand of it.
func factorsOf(x *graph.Node) (all []*graph.Node) {
	for _, f := range x.Inputs() {
		if match.Is(f, match.Mul) && f.Rank() == x.Rank() {
			all = append(all, f.Inputs()...)
		} else {
			all = append(all, f)
		}
	}
	return all
}

// unitAxes returns the two axes of n along which it is δ_ij, repeated along all others.
func unitAxes(n *graph.Node) (i, j int, ok bool) {
	root, axes := match.Laid(n)
	if root.Rank() != 2 || root.Dim(0) != root.Dim(1) || root.Dim(0) < 2 || !isUnits(root) {
		return 0, 0, false
	}
	i, j = slices.Index(axes, 0), slices.Index(axes, 1)
	return i, j, i >= 0 && j >= 0
}

// isUnits reports whether a square matrix is that of the unit vectors: a constant, or made of the
// places of their ones.
func isUnits(x *graph.Node) bool {
	size := x.Dim(0)
	if v, ok := x.Constant(); ok {
		for e, x := range v.Data {
			if (x == 1) != (e/size == e%size) || x != 0 && x != 1 {
				return false
			}
		}
		return true
	}
	if !match.Is(x, match.OneHot) {
		return false
	}
	places, ok := x.In(0).Constant()
	for i, k := range places.Data {
		if k != float64(i) {
			return false
		}
	}
	return ok && len(places.Data) == size
}

// alongOther returns a factor of x that is repeated along axis i with its axis j in the place of i,
// and of size 1 in the place of j; nil if it varies along i.
func alongOther(f, x *graph.Node, i, j int) *graph.Node {
	if f.Rank() != x.Rank() {
		return nil
	}
	root, axes := match.Laid(f)
	if axes[i] >= 0 {
		return nil
	}
	axes[i], axes[j] = axes[j], -1
	to := x.Shape().Axes()
	to[j].Size = 1
	small := slices.Clone(to)
	var order, left []int // the axes of the root in the order of x, and as they are
	for a := range axes {
		if axes[a] < 0 {
			small[a].Size = 1
		} else {
			order = append(order, axes[a])
		}
	}
	var shown []graph.Axis
	for a := range root.Rank() {
		if slices.Contains(order, a) {
			left, shown = append(left, a), append(shown, graph.Axis{Size: root.Dim(a)})
		} else if root.Dim(a) > 1 {
			return nil
		}
	}
	y := reshape(root, shown)
	if !slices.IsSorted(order) {
		places := make([]any, len(order))
		for k, a := range order {
			places[k] = slices.Index(left, a)
		}
		y = ops.Transpose(y, places...)
	}
	return repeat(reshape(y, small), to)
}
