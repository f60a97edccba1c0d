package ops

import "github.com/tapestry-ml/tapestry/graph"

// Norm returns the Euclidean length √Σx² of floats x over the given axes, or over all without any.
// It removes these axes unless [Keep] is given. Its derivative is x/‖x‖, and 0 where all of x is 0.
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
	// The root of 0 has an infinite derivative: a mask before it, because 0·∞ is NaN, and one
	// behind.
	zero := Equal(s, Lit(s, 0))
	return Select(zero, Lit(s, 0), Sqrt(Select(zero, Lit(s, 1), s)))
}
