package ops

import "github.com/tapestry-ml/tapestry/graph"

// Norm is the Euclidean length √Σx² over the given axes, or over all; see [Keep].
// Its derivative is x/‖x‖, and 0 at x = 0.
func Norm(x *graph.Node, axes ...any) *graph.Node {
	defer calling("Norm", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("Norm", errNil, x)
	}
	defer x.Graph().Scope("norm")()
	s := Sum(Square(x), axes...)
	if !s.IsValid() {
		return s
	}
	// The root of 0 has an infinite derivative: a mask before it, because 0·∞ is NaN, and one behind.
	zero := Equal(s, Lit(s, 0))
	return Select(zero, Lit(s, 0), Sqrt(Select(zero, Lit(s, 1), s)))
}
