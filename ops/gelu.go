package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
)

// GELU returns x·Φ(x), element by element, for floats x, where Φ is the distribution function of
// the standard normal distribution: ½·x·(1 + erf(x/√2)) (Hendrycks & Gimpel, 2016). It has the
// absolute error of the 1: for negative x small results lose their digits, and below −5.5 (f32) or
// −8.3 (f64) the result is 0.
func GELU(x *graph.Node) *graph.Node {
	defer calling("GELU", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("GELU", errNil, x)
	}
	defer x.Graph().Scope("gelu")()
	return Mul(Scale(x, 0.5), Shift(Erf(Scale(x, 1/math.Sqrt2)), 1))
}

// GELUTanh returns the common approximation ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) of [GELU]
// (Hendrycks & Gimpel, 2016), element by element, for floats x. They differ by less than 0.0005.
func GELUTanh(x *graph.Node) *graph.Node {
	defer calling("GELUTanh", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("GELUTanh", errNil, x)
	}
	defer x.Graph().Scope("gelu")()
	inner := Scale(Add(x, Scale(Mul(x, Square(x)), 0.044715)), math.Sqrt(2/math.Pi))
	return Mul(Scale(x, 0.5), Shift(Tanh(inner), 1))
}
