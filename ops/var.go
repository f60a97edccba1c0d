package ops

import "github.com/tapestry-ml/tapestry/graph"

// Var is the variance over the given axes, or over all: the mean squared distance
// from the mean (divided by n, not n−1); see [Keep]. The mean is taken away before
// the squares, so that a large one costs no digits.
func Var(x *graph.Node, axes ...any) *graph.Node {
	defer calling("Var", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("Var", errNil, x)
	}
	defer x.Graph().Scope("variance")()
	centre := append([]any{Keep}, axesOnly(axes)...)
	return Mean(Square(Sub(x, Mean(x, centre...))), axes...)
}

// axesOnly is a reduction's arguments without [Keep].
func axesOnly(axes []any) []any {
	var out []any
	for _, a := range axes {
		if a != Keep {
			out = append(out, a)
		}
	}
	return out
}
