package inspect

import (
	"cmp"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// results compares the roots and the gradients of parameters with their shadows. What updates give
// comes last.
func (s *shadow) results(roots []*graph.Node) (out []Result) {
	updated := map[*graph.Node]string{}
	for _, u := range graph.Of(roots...).Updates() {
		updated[u.Value] = "new " + u.Target.Label()
	}
	update := func(n *graph.Node) bool { return updated[n] != "" }
	wanted := slices.DeleteFunc(slices.Clone(roots), update)
	for _, n := range s.nodes {
		if d := s.Gradient(n); n.Role() == graph.RoleParam && d != nil {
			wanted = append(wanted, d)
		}
	}
	for _, n := range roots {
		if update(n) {
			wanted = append(wanted, n)
		}
	}
	seen := map[*graph.Node]bool{}
	for _, n := range wanted {
		if seen[n] || n.DType().Wide() != graph.F32 || n.NumIn() == 0 || n.Shape().Len() == 0 {
			continue
		}
		seen[n] = true
		out = append(out, Result{n, cmp.Or(updated[n], n.Label()), apart(s.wide(n).Data, s.exact[n].Data)})
	}
	return out
}

// apart returns the norm of a difference, relative to that of what is wanted: +Inf where one of the
// two is not finite and the other is.
func apart(got, want []float64) float64 {
	scale := 0.0
	for p, w := range want {
		if g := got[p]; finite(g) != finite(w) {
			return math.Inf(1)
		} else if finite(w) {
			scale = max(scale, math.Abs(g), math.Abs(w))
		}
	}
	if scale == 0 {
		return 0
	}
	off, size := 0.0, 0.0
	for p, w := range want {
		if g := got[p]; finite(w) {
			off += (g - w) / scale * ((g - w) / scale)
			size += w / scale * (w / scale)
		}
	}
	if off == 0 {
		return 0
	}
	return math.Sqrt(off / size)
}
