package exporter

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// log1p is x·log(u)/(u − 1) for u = 1 + x, which loses nothing for small x (Goldberg, 1991).
func log1p(_ *graph.Graph, _ *graph.Node, in []*graph.Node) *graph.Node {
	x := in[0]
	u := ops.Shift(x, 1)
	d := ops.Shift(u, -1)
	factor := ops.Select(ops.Equal(d, x), ops.Lit(x, 1), ops.Div(x, d))
	return ops.Select(ops.Equal(u, ops.Lit(x, 1)), x, ops.Mul(ops.Log(u), factor))
}

// expm1 is tanh(x/2)·(eˣ + 1).
func expm1(_ *graph.Graph, _ *graph.Node, in []*graph.Node) *graph.Node {
	return ops.Mul(ops.Tanh(ops.Scale(in[0], 0.5)), ops.Shift(ops.Exp(in[0]), 1))
}

// cosh is ½(eˣ + e⁻ˣ).
func cosh(_ *graph.Graph, _ *graph.Node, in []*graph.Node) *graph.Node {
	return ops.Scale(ops.Add(ops.Exp(in[0]), ops.Exp(ops.Neg(in[0]))), 0.5)
}

// sinh is tanh(x/2)·(1 + cosh x).
func sinh(_ *graph.Graph, _ *graph.Node, in []*graph.Node) *graph.Node {
	return ops.Mul(ops.Tanh(ops.Scale(in[0], 0.5)), ops.Shift(cosh(nil, nil, in), 1))
}

// double computes in f64 and returns to the type of n.
func double(n *graph.Node, in []*graph.Node, f func(x []*graph.Node) *graph.Node) *graph.Node {
	x := make([]*graph.Node, len(in))
	for i := range in {
		x[i] = ops.Cast(in[i], graph.F64)
	}
	return ops.Cast(f(x), n.DType().Wide())
}

// asinh is that of |x| with the sign of x.
func asinh(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(x []*graph.Node) *graph.Node {
		a := ops.Abs(x[0])
		near := ops.Log1p(ops.Add(a, ops.Div(ops.Square(a), ops.Shift(ops.Sqrt(ops.Shift(ops.Square(a), 1)), 1))))
		far := ops.Shift(ops.Log(a), math.Ln2)
		return ops.Mul(ops.Sign(x[0]), ops.Select(ops.Greater(a, ops.Lit(a, 1e9)), far, near))
	})
}

func acosh(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(x []*graph.Node) *graph.Node {
		t := ops.Shift(x[0], -1)
		near := ops.Log1p(ops.Add(t, ops.Sqrt(ops.Add(ops.Scale(t, 2), ops.Square(t)))))
		far := ops.Shift(ops.Log(x[0]), math.Ln2)
		return ops.Select(ops.Greater(x[0], ops.Lit(t, 1e9)), far, near)
	})
}

func atanh(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(x []*graph.Node) *graph.Node {
		a := ops.Abs(x[0])
		return ops.Mul(ops.Sign(x[0]), ops.Scale(ops.Log1p(ops.Div(ops.Scale(a, 2), ops.OneMinus(a))), 0.5))
	})
}

// angle is the arc tangent of numbers from 0 to 1: two halvings of the angle, and a series.
func angle(x *graph.Node) *graph.Node {
	for range 2 {
		x = ops.Div(x, ops.Shift(ops.Sqrt(ops.Shift(ops.Square(x), 1)), 1))
	}
	x2 := ops.Square(x)
	sum := ops.Lit(x, 1.0/25)
	for k := 23; k > 0; k -= 2 {
		sum = ops.Sub(ops.Lit(x, 1/float64(k)), ops.Mul(x2, sum))
	}
	return ops.Scale(ops.Mul(x, sum), 4)
}

func atan(g *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return atan2(g, n, []*graph.Node{in[0], ops.Lit(in[0], 1)})
}

func asin(g *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return atan2(g, n, []*graph.Node{in[0], cosineOf(in[0])})
}

func acos(g *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return atan2(g, n, []*graph.Node{cosineOf(in[0]), in[0]})
}

// cosineOf returns √(1 − x²).
func cosineOf(x *graph.Node) *graph.Node {
	return ops.Sqrt(ops.Mul(ops.OneMinus(x), ops.Shift(x, 1)))
}

// atan2 is the angle in the first octant, which is then mirrored.
func atan2(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		y, x := in[0], in[1]
		a, b := ops.Abs(y), ops.Abs(x)
		small, large := ops.Minimum(a, b), ops.Maximum(a, b)
		ratio := ops.Select(ops.Equal(small, large), ops.Lit(x, 1), ops.Div(small, large))
		ratio = ops.Select(ops.Equal(large, ops.Lit(x, 0)), ops.Lit(x, 0), ratio)
		t := angle(ratio)
		t = ops.Select(ops.Greater(a, b), ops.Sub(ops.Lit(x, math.Pi/2), t), t)
		// 1/x tells the zeros apart.
		left := ops.Or(ops.Less(x, ops.Lit(x, 0)), ops.Less(ops.Div(ops.Lit(x, 1), x), ops.Lit(x, 0)))
		t = ops.Select(left, ops.Sub(ops.Lit(x, math.Pi), t), t)
		down := ops.Or(ops.Less(y, ops.Lit(y, 0)), ops.Less(ops.Div(ops.Lit(y, 1), y), ops.Lit(y, 0)))
		return ops.Select(down, ops.Neg(t), t)
	})
}

// polynomial is Σ_k c_k·x^k.
func polynomial(x *graph.Node, c ...float64) *graph.Node {
	sum := ops.Lit(x, c[len(c)-1])
	for k := len(c) - 2; k >= 0; k-- {
		sum = ops.Add(ops.Mul(sum, x), ops.Lit(x, c[k]))
	}
	return sum
}
