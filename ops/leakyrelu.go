package ops

import "github.com/tapestry-ml/tapestry/graph"

// LeakyReLU returns x where x > 0 and slope·x elsewhere, element by element, for numbers x (Maas,
// Hannun & Ng, 2013). The slope must be a value of x's type; see [Lit]. The derivative at 0 is the
// slope, as in PyTorch.
func LeakyReLU(x *graph.Node, slope float64) *graph.Node {
	defer calling("LeakyReLU", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("LeakyReLU", errNil, x)
	}
	defer x.Graph().Scope("leaky relu")()
	return Select(Greater(x, Lit(x, 0)), x, Scale(x, slope))
}
