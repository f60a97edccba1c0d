package ops

import "github.com/tapestry-ml/tapestry/graph"

// ELU returns x where x > 0 and eˣ − 1 elsewhere, element by element, for floats x (Clevert,
// Unterthiner & Hochreiter, 2015). Its derivative at 0 is 1.
func ELU(x *graph.Node) *graph.Node {
	defer calling("ELU", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("ELU", errNil, x)
	}
	defer x.Graph().Scope("elu")()
	positive := Greater(x, Lit(x, 0))
	// Where x is chosen, its exponential might overflow, and 0·∞ in the derivative is NaN.
	return Select(positive, x, Expm1(Select(positive, Lit(x, 0), x)))
}
