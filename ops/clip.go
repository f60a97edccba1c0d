package ops

import "github.com/tapestry-ml/tapestry/graph"

// Clip is x where it lies between lo and hi, the nearer of them elsewhere, element
// by element, with broadcasting. At an end x still has
// derivative 1, as in PyTorch's clamp; a bound has one where it holds x back.
func Clip(x, lo, hi *graph.Node) *graph.Node {
	defer calling("Clip", x, lo, hi)()
	g := graph.Of(x, lo, hi)
	for _, n := range []*graph.Node{x, lo, hi} {
		if !n.IsValid() {
			return g.Fail("Clip", errNil, x, lo, hi)
		}
	}
	if err := meet(x, lo, hi); err != nil {
		return g.Fail("Clip", err, x, lo, hi)
	}
	defer g.Scope("clip")()
	return Select(Less(hi, x), hi, Select(Less(x, lo), lo, x))
}
