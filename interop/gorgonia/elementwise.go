package gorgonia

import (
	"github.com/tapestry-ml/tapestry/graph"
	G "gorgonia.org/gorgonia"
)

func unary(f func(x *G.Node) (*G.Node, error)) rule {
	return func(s site, x []*G.Node) *G.Node { return s.one(f, x[0]) }
}

func binary(f func(a, b *G.Node) (*G.Node, error)) rule {
	return func(s site, x []*G.Node) *G.Node { return s.two(f, x[0], x[1]) }
}

// comparison returns a rule whose result is 0 and 1 in the type of the operands.
func comparison(f func(a, b *G.Node, sameType bool) (*G.Node, error)) rule {
	return func(s site, x []*G.Node) *G.Node { return s.compare(f, x[0], x[1]) }
}

func (b *builder) compare(f func(a, b *G.Node, sameType bool) (*G.Node, error), x, y *G.Node) *G.Node {
	return b.two(func(x, y *G.Node) (*G.Node, error) { return f(x, y, true) }, x, y)
}

func (b *builder) add(x, y *G.Node) *G.Node { return b.two(G.Add, x, y) }
func (b *builder) sub(x, y *G.Node) *G.Node { return b.two(G.Sub, x, y) }
func (b *builder) mul(x, y *G.Node) *G.Node { return b.two(G.HadamardProd, x, y) }

// inverse returns 1/x.
func (b *builder) inverse(x *G.Node) *G.Node { return b.one(G.Inverse, x) }

// div returns x/y, as a product with the inverse if y is an array: there gorgonia makes +∞ of any
// quotient by 0, even 0/0 and −1/0. The inverse overflows if y is subnormal.
func (b *builder) div(x, y *G.Node) *G.Node {
	if y.IsScalar() {
		return b.two(G.HadamardDiv, x, y)
	}
	return b.mul(x, b.inverse(y))
}

func div(s site, x []*G.Node) *G.Node { return s.div(x[0], x[1]) }

// filled returns an array of x's shape and type with equal elements.
func (b *builder) filled(x *G.Node, v float64) *G.Node {
	shape, err := graph.NewShape(graph.Dims(x.Shape()...)...)
	b.must(err)
	out := graph.NewValue(graph.Type{DType: elementType(x), Shape: shape})
	for i := range out.Data {
		out.Data[i] = v
	}
	return b.constant(out)
}

// between returns gorgonia's elementwise maximum or minimum, which does not take scalars. It is NaN
// where x is; where y alone is NaN it is x.
func (b *builder) between(f func(x, y *G.Node) (*G.Node, error), x, y *G.Node) *G.Node {
	if x.Dims() > 0 {
		return b.two(f, x, y)
	}
	return b.reshape(b.two(f, b.reshape(x, 1), b.reshape(y, 1)))
}

// extreme returns between, and NaN where either operand is. The halves are equal where neither is
// NaN, and their sum is exact.
func extreme(s site, f func(x, y *G.Node) (*G.Node, error), x []*G.Node) *G.Node {
	half := func(a, b *G.Node) *G.Node { return s.mul(s.between(f, a, b), s.number(a, 0.5)) }
	return s.add(half(x[0], x[1]), half(x[1], x[0]))
}

func maximum(s site, x []*G.Node) *G.Node { return extreme(s, G.MaxBetween, x) }
func minimum(s site, x []*G.Node) *G.Node { return extreme(s, G.MinBetween, x) }

// relu is not a product with a mask, because −∞·0 is NaN.
func relu(s site, x []*G.Node) *G.Node { return s.between(G.MaxBetween, x[0], s.filled(x[0], 0)) }

// sign does not use gorgonia's function, which takes 0 for positive.
func sign(s site, x []*G.Node) *G.Node {
	zero := s.filled(x[0], 0)
	y := s.sub(s.compare(G.Gt, x[0], zero), s.compare(G.Lt, x[0], zero))
	return s.add(y, s.nanUnless(s.compare(G.Eq, x[0], x[0])))
}

// nanUnless returns 0 where the mask is 1, and NaN where it is 0.
func (b *builder) nanUnless(mask *G.Node) *G.Node { return b.div(b.filled(mask, 0), mask) }

// exp clips float32 arguments to at most 1000, because gorgonia's exponential is 0 instead of +∞
// far above that.
func exp(s site, x []*G.Node) *G.Node {
	y := x[0]
	if s.dt == graph.F32 {
		y = s.between(G.MinBetween, y, s.filled(y, 1000))
	}
	return s.one(G.Exp, y)
}

// onlyF64 refuses float32, for which gorgonia takes the functions of another library.
func onlyF64(r rule, why string) rule {
	return func(s site, x []*G.Node) *G.Node {
		if s.dt != graph.F64 {
			panic(stop{unsupported(s.y, why)})
		}
		return r(s, x)
	}
}

func or(s site, x []*G.Node) *G.Node { return s.between(G.MaxBetween, x[0], x[1]) }

func not(s site, x []*G.Node) *G.Node { return s.sub(s.filled(x[0], 1), x[0]) }

// cast turns numbers into masks. Masks are numbers already.
func cast(s site, x []*G.Node) *G.Node {
	if s.y.DType() != graph.Bool {
		return x[0]
	}
	return s.compare(G.Ne, x[0], s.filled(x[0], 0))
}

// softplus returns relu(x) + log(1 + e^−|x|). Gorgonia's function returns x from 16 on, which in
// float64 is right to only seven digits.
func softplus(s site, x []*G.Node) *G.Node {
	e := s.one(G.Exp, s.one(G.Neg, s.one(G.Abs, x[0])))
	return s.add(relu(s, x), s.one(G.Log1p, e))
}

func logSigmoid(s site, x []*G.Node) *G.Node {
	return s.one(G.Neg, softplus(s, []*G.Node{s.one(G.Neg, x[0])}))
}
