package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// specialise are the rules that replace a large intermediate by an operation
// that never holds it.
var specialise = []Rule{
	{"pairwise distance", "Σ_d (x_id − r_jd)² over laid-out operands is SqDist(x, r), without the i×j×d differences", func(n *graph.Node) *graph.Node {
		sq, axes, ok := ops.Summed(n)
		if !ok || len(axes.List()) != 1 {
			return nil
		}
		diff, ok := ops.Squared(sq)
		if !ok || !ops.Is(diff, "Sub") {
			return nil
		}
		return pairwise(n, diff, axes.List()[0])
	}},
}

// pairwise brings the operands of diff into the forms x[… i d] and r[… j d]: d
// is summed, the axes that vary with x alone are merged into i, those that vary
// with r alone into j, and the rest is a batch.
func pairwise(n, diff *graph.Node, d int) *graph.Node {
	x, xa := ops.Laid(diff.In(0))
	r, ra := ops.Laid(diff.In(1))
	var batch, i, j []int
	for a := range diff.Rank() {
		switch inX, inR := xa[a] >= 0, ra[a] >= 0; {
		case a == d:
			if diff.Dim(a) > 1 && (!inX || !inR) {
				return nil
			}
		case inX && inR:
			batch = append(batch, a)
		case inX:
			i = append(i, a)
		case inR:
			j = append(j, a)
		}
	}
	if len(i) == 0 || len(j) == 0 {
		return nil // nothing is repeated, so nothing is gained
	}
	axes := func(list ...int) (out []graph.Axis) {
		for _, a := range list {
			out = append(out, diff.Shape().Axis(a))
		}
		return out
	}
	rows := func(root *graph.Node, laid, own []int) *graph.Node {
		var refs []any
		used := map[int]bool{}
		for _, a := range slices.Concat(batch, own, []int{d}) {
			if laid[a] >= 0 {
				refs = append(refs, laid[a])
				used[laid[a]] = true
			}
		}
		for a := range root.Rank() { // axes of size 1 that nothing follows
			if !used[a] {
				refs = append(refs, a)
			}
		}
		if len(refs) > 0 {
			root = ops.Transpose(root, refs...)
		}
		return reshape(root, append(axes(batch...), merged(axes(own...)), diff.Shape().Axis(d)))
	}
	s := ops.SqDist(rows(x, xa, i), rows(r, ra, j))
	// Bring the axes back into the order of diff, without d.
	order := slices.Concat(batch, i, j)
	var refs []any
	for a := range diff.Rank() {
		if k := slices.Index(order, a); k >= 0 {
			refs = append(refs, k)
		}
	}
	return ops.ReshapeTo(ops.Transpose(reshape(s, axes(order...)), refs...), n.Shape())
}

// merged is one axis for several neighbours; one alone keeps its name.
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
		return x.Graph().Fail("pairwise", err, x)
	}
	return ops.ReshapeTo(x, s)
}
