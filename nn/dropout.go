package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// The noise of this family is drawn anew in every run, a step of training or not: package
// tape says exactly when, in "Random numbers". It leaves every expectation as it is, so that
// evaluation needs no other graph: it feeds a rate of 0. Fed the rate of training instead,
// each run is a sample of the prediction: Monte-Carlo dropout (Gal and Ghahramani, 2016).

// Dropout sets each element of x[…] to zero with probability p, and divides the others by 1 − p
// (Srivastava et al., 2014; the notes on dropout):
//
//	y = m ⊙ x/(1 − p),  m = 1 with probability 1 − p, else 0
//
// x holds floats, and p is a scalar of their type; p = 1 makes everything 0. The mask m is drawn
// anew in every run, with or without updates, and the derivative uses the same mask. In a layer y·w
// that follows, Σ_i w_i·y_i has the mean Σ_i w_i·x_i and the variance Σ_i w_i²x_i²·p/(1 − p).
func Dropout(x, p *graph.Node) *graph.Node {
	defer graph.Of(x, p).Scope("dropout")()
	if !x.IsValid() {
		return noArray("Dropout", x)
	}
	return kept(x, p, x.Shape().Axes())
}

// DropConnect returns the layer l with each weight set to zero with probability p, a scalar of the
// weights' type, and the others divided by 1 − p (Wan et al., 2013; the notes on relatives of
// dropout). All examples of a run share the same weights, which are drawn anew in every run. The
// bias stays as it is.
func DropConnect(l Linear, p *graph.Node) Linear {
	defer graph.Of(l.W, p).Scope("drop-connect")()
	if !l.W.IsValid() {
		l.W = noArray("DropConnect", l.W)
		return l
	}
	l.W = kept(l.W, p, l.W.Shape().Axes()).As("ŵ")
	return l
}

// GaussianNoise multiplies each element of floats x[…] by a normal number of mean 1 and standard
// deviation σ, a scalar of x's type (Srivastava et al., 2014, section 10):
//
//	y = x ⊙ (1 + σ·ε)
//
// With σ = √(p/(1 − p)), mean and variance are those of dropout with rate p. ε is drawn anew in
// every run.
func GaussianNoise(x, σ *graph.Node) *graph.Node {
	defer graph.Of(x, σ).Scope("noise")()
	if !x.IsValid() {
		return noArray("GaussianNoise", x)
	}
	ε := ops.RandomNormal(x.Graph(), "ε", x.DType(), x.Shape().Axes()...).As("ε")
	return ops.Mul(x, ops.Shift(ops.Mul(σ, ε), 1).As("m"))
}

// UniformNoise multiplies each element of floats x[…] by a number between 1 − s and 1 + s, drawn
// anew in every run; s is a scalar of x's type. With s = 1 the factor is twice a number between 0
// and 1, as in the notes, so that the mean stays.
func UniformNoise(x, s *graph.Node) *graph.Node {
	defer graph.Of(x, s).Scope("noise")()
	if !x.IsValid() {
		return noArray("UniformNoise", x)
	}
	u := ops.RandomUniform(x.Graph(), "u", x.DType(), x.Shape().Axes()...).As("u")
	return ops.Mul(x, ops.Shift(ops.Mul(s, build.Centred(u)), 1).As("m"))
}

// kept returns m·x/(1 − p) with a mask over the given axes, which x's shape is a
// repetition of.
func kept(x, p *graph.Node, axes []graph.Axis) *graph.Node {
	limit, least := p, vanishing
	if x.DType().IsHalf() && p.DType() == x.DType() { // a draw of so few digits would move the rate
		limit, least = ops.Cast(p, graph.F32), 0x1p-24
	}
	u := ops.RandomUniform(x.Graph(), "u", x.DType().Wide(), axes...).As("u")
	m := ops.Cast(ops.GreaterEqual(u, limit), x.DType()).As("m")
	left := ops.Maximum(ops.OneMinus(p), ops.Lit(x, least)) // where p = 1, 0/0 is 0
	return ops.Mul(ops.Div(m, left), x)
}

// dropped returns x if n is Dropout(x, p).
func dropped(n *graph.Node) (x *graph.Node, ok bool) {
	if !match.Is(n, match.Mul) {
		return nil, false
	}
	m, _ := match.Laid(n.In(0))
	if !match.Is(m, match.Div) || !match.Is(m.In(0), match.Cast) {
		return nil, false
	}
	for _, u := range graph.Reachable(m.In(0)) {
		ok = ok || match.Is(u, match.Random)
	}
	return n.In(1), ok && m.In(0).In(0).DType() == graph.Bool
}

// vanishing is less than any probability that is not zero.
const vanishing = 1e-20

// noArray records that an operand is missing.
func noArray(what string, x *graph.Node) *graph.Node {
	return graph.Of(x).Fail(what, fmt.Errorf("want an array"), x)
}
