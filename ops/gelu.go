package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
)

// GELU is x·Φ(x), element by element, where Φ is the normal distribution
// function: ½·x·(1 + erf(x/√2)). Its error is that of the 1: where x is negative
// small results lose their digits, and below −5.5 (float32) or −8.3 (float64) it is 0.
func GELU(x *graph.Node) *graph.Node {
	defer calling("GELU", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("GELU", errNil, x)
	}
	defer x.Graph().Scope("gelu")()
	return Mul(Scale(x, 0.5), Shift(Erf(Scale(x, 1/math.Sqrt2)), 1))
}

// GELUTanh is the usual approximation of [GELU] by a hyperbolic tangent:
// ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))). It differs from it by less than 0.0005.
func GELUTanh(x *graph.Node) *graph.Node {
	defer calling("GELUTanh", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("GELUTanh", errNil, x)
	}
	defer x.Graph().Scope("gelu")()
	inner := Scale(Add(x, Scale(Mul(x, Square(x)), 0.044715)), math.Sqrt(2/math.Pi))
	return Mul(Scale(x, 0.5), Shift(Tanh(inner), 1))
}
