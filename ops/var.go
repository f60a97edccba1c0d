package ops

import "github.com/tapestry-ml/tapestry/graph"

// Var returns the variance of floats x over the given axes, or over all without any. It removes
// these axes unless [Keep] is given. The variance is the mean squared difference from the mean: it
// divides by n, not n−1. The mean is subtracted before squaring, so that a large one costs no
// digits.
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
