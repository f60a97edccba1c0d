package ops

import "github.com/tapestry-ml/tapestry/graph"

// Softplus is log(1 + eˣ), element by element: a smooth [Relu]. It is the
// log-sum-exp of x and 0, so that it overflows nowhere and its derivatives of
// every order are right at 0 too, where max(x, 0) + log(1 + e⁻|x|) has kinks.
func Softplus(x *graph.Node) *graph.Node {
	if !x.IsValid() {
		return graph.Of(x).Fail("Softplus", errNil, x)
	}
	defer x.Graph().Scope("softplus")()
	x = Expand(x, -1, "")
	return LogSumExp(Concat(-1, x, BroadcastTo(Lit(x, 0), x.Shape())), -1)
}
