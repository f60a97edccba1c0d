package ops

import "github.com/tapestry-ml/tapestry/graph"

// Mish returns x·tanh(log(1 + eˣ)), element by element, for floats x (Misra, 2019). Its smallest
// value is −0.3088, near x = −1.1925.
func Mish(x *graph.Node) *graph.Node {
	defer calling("Mish", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("Mish", errNil, x)
	}
	defer x.Graph().Scope("mish")()
	return Mul(x, Tanh(Softplus(x)))
}
