package exporter

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// bernoulli are the numbers B₂, B₄, … .
var bernoulli = [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510, 43867. / 798, -174611. / 330}

// turnsOf returns x − round(x), and sin π and cos π of it.
func turnsOf(x *graph.Node) (sin, cos *graph.Node) {
	r := ops.Scale(ops.Sub(x, ops.Round(x)), math.Pi)
	return ops.Sin(r), ops.Cos(r)
}

// lgamma is Stirling's series at x + 8, below ½ by reflection.
func lgamma(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		x := in[0]
		half := ops.Less(x, ops.Lit(x, 0.5))
		u := ops.Select(half, ops.OneMinus(x), x)
		const shift = 8
		z := ops.Shift(u, shift)
		y := ops.Add(ops.Sub(ops.Mul(ops.Shift(z, -0.5), ops.Log(z)), z), ops.Lit(z, math.Log(2*math.Pi)/2))
		inverse := ops.Div(ops.Lit(z, 1), z)
		square := ops.Square(inverse)
		terms := make([]float64, 8)
		for i := range terms {
			k := float64(2*i + 2)
			terms[i] = bernoulli[i] / (k * (k - 1))
		}
		y = ops.Add(y, ops.Mul(inverse, polynomial(square, terms...)))
		for i := range shift {
			y = ops.Sub(y, ops.Log(ops.Shift(u, float64(i))))
		}
		sin, _ := turnsOf(x)
		mirrored := ops.Sub(ops.Sub(ops.Lit(x, math.Log(math.Pi)), ops.Log(ops.Abs(sin))), y)
		return ops.Select(half, mirrored, y)
	})
}

func digamma(g *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(x []*graph.Node) *graph.Node { return psi(0, x[0]) })
}

func polygamma(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	order := field[int](n, "Order")
	return double(n, in, func(x []*graph.Node) *graph.Node { return psi(order, x[0]) })
}

// psi is the n-th derivative of digamma: by the recurrence up to an argument where the asymptotic series has all
// digits, and below ½ by reflection (Abramowitz and Stegun, 6.4.6, 6.4.7 and 6.4.11).
func psi(n int, x *graph.Node) *graph.Node {
	half := ops.Less(x, ops.Lit(x, 0.5))
	u := ops.Select(half, ops.OneMinus(x), x)
	k := float64(n)
	shift := n + 15
	far := ops.Shift(u, float64(shift))
	inverse := ops.Div(ops.Lit(x, 1), far)
	terms, ratio := make([]float64, len(bernoulli)), (k+1)/2
	for i, b := range bernoulli {
		terms[i] = b * ratio
		two := float64(2*i + 2)
		ratio *= (two + k) * (two + k + 1) / ((two + 1) * (two + 2))
	}
	square := ops.Square(inverse)
	sum := ops.Add(ops.Mul(square, polynomial(square, terms...)), ops.Scale(inverse, 0.5))
	power := func(x *graph.Node, k int) *graph.Node { return ops.Pow(x, ops.Lit(x, float64(k))) }
	if n == 0 {
		sum = ops.Sub(sum, ops.Log(far))
	} else {
		sum = ops.Mul(ops.Shift(sum, 1/k), power(inverse, n))
	}
	for i := shift - 1; i >= 0; i-- {
		sum = ops.Add(sum, power(ops.Div(ops.Lit(x, 1), ops.Shift(u, float64(i))), n+1))
	}
	y := ops.Scale(sum, float64(2*(n%2)-1)*math.Gamma(k+1))
	sin, cos := turnsOf(x)
	cot := ops.Scale(polynomial(ops.Div(cos, sin), cotangent(n)...), math.Pow(math.Pi, k+1))
	mirrored := ops.Sub(y, cot)
	if n%2 == 1 {
		mirrored = ops.Sub(cot, y)
	}
	y = ops.Select(half, mirrored, y)
	// At 0 and at the negative whole numbers it is infinite; of even order, with different signs on both sides.
	whole := ops.And(ops.Equal(x, ops.Round(x)), ops.LessEqual(x, ops.Lit(x, 0)))
	if n%2 == 1 {
		return ops.Select(whole, ops.Lit(x, math.Inf(1)), y)
	}
	pole := ops.Select(ops.Equal(x, ops.Lit(x, 0)), ops.Neg(ops.Div(ops.Lit(x, 1), x)), ops.Lit(x, math.NaN()))
	return ops.Select(whole, pole, y)
}

// cotangent returns the coefficients, by powers of c = cot πx, of the n-th derivative of c by x without its factor
// (−π)ⁿ.
func cotangent(n int) []float64 {
	p := []float64{0, 1}
	for range n {
		next := make([]float64, len(p)+1)
		for i := 1; i < len(p); i++ {
			next[i-1] += float64(i) * p[i]
			next[i+1] += float64(i) * p[i]
		}
		p = next
	}
	return p
}
