package ops

import "github.com/tapestry-ml/tapestry/graph"

// Clip returns x limited to the range from lo to hi, element by element, with broadcasting: lo
// where x < lo, hi where x > hi, x elsewhere. All three have one element type. At a bound the
// derivative by x is 1, as in PyTorch's clamp; beyond it, the derivative flows to the bound.
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
