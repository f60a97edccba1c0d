package rewrite

import (
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
// is summed, exactly one further axis varies with x alone and one with r alone,
// the rest is a batch.
func pairwise(n, diff *graph.Node, d int) *graph.Node {
	x, xa := ops.Laid(diff.In(0))
	r, ra := ops.Laid(diff.In(1))
	i, j := -1, -1
	var batch []int
	for a := range diff.Rank() {
		switch inX, inR := xa[a] >= 0, ra[a] >= 0; {
		case a == d:
			if diff.Dim(a) > 1 && (!inX || !inR) {
				return nil
			}
		case inX && inR:
			batch = append(batch, a)
		case inX && i < 0:
			i = a
		case inR && j < 0:
			j = a
		case inX || inR:
			return nil
		}
	}
	if i < 0 || j < 0 {
		return nil // nothing is repeated, so nothing is gained
	}
	rows := func(root *graph.Node, laid []int, own int) *graph.Node {
		order := append(append([]int{}, batch...), own, d)
		var refs []any
		var axes []graph.Axis
		used := map[int]bool{}
		for _, a := range order {
			axes = append(axes, diff.Shape().Axis(a))
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
		s, err := graph.NewShape(axes...)
		if err != nil {
			return n.Graph().Fail("pairwise", err, root)
		}
		if len(refs) > 0 {
			root = ops.Transpose(root, refs...)
		}
		return ops.ReshapeTo(root, s)
	}
	s := ops.SqDist(rows(x, xa, i), rows(r, ra, j))
	// Bring the axes back into the order of diff, without d.
	var refs []any
	for a := range diff.Rank() {
		for k, b := range append(append([]int{}, batch...), i, j) {
			if a == b {
				refs = append(refs, k)
			}
		}
	}
	return ops.ReshapeTo(ops.Transpose(s, refs...), n.Shape())
}
