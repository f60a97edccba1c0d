package ops

import "github.com/tapestry-ml/tapestry/graph"

// SiLU is x·σ(x), element by element (Elfwing, Uchibe & Doya, 2017; also called
// swish).
func SiLU(x *graph.Node) *graph.Node {
	defer calling("SiLU", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("SiLU", errNil, x)
	}
	defer x.Graph().Scope("silu")()
	return Mul(x, Sigmoid(x))
}
