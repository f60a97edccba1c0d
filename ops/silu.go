package ops

import "github.com/tapestry-ml/tapestry/graph"

// SiLU returns x·σ(x), also called swish, element by element, for floats x (Elfwing, Uchibe & Doya,
// 2017).
func SiLU(x *graph.Node) *graph.Node {
	defer calling("SiLU", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("SiLU", errNil, x)
	}
	defer x.Graph().Scope("silu")()
	return Mul(x, Sigmoid(x))
}
