package ops

import "github.com/tapestry-ml/tapestry/graph"

// LeakyReLU is x where positive and slope·x elsewhere, element by element (Maas,
// Hannun & Ng, 2013). Its derivative at 0 is slope, as PyTorch has it.
func LeakyReLU(x *graph.Node, slope float64) *graph.Node {
	defer calling("LeakyReLU", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("LeakyReLU", errNil, x)
	}
	defer x.Graph().Scope("leaky relu")()
	return Select(Greater(x, Lit(x, 0)), x, Scale(x, slope))
}
