package rewrite

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// exponentials lists the rules for logarithms and quotients of expressions with exponentials: exp
// overflows at 89 in float32, and at 710 in float64, where its logarithm or a quotient of two is an
// ordinary number.
var exponentials = []Rule{
	{"log of exponentials", "log eˣ = x, log ab = log a + log b, log a/b = log a − log b, and log(a + b) from log a and log b by softplus, " +
		"for sums, products and quotients of exponentials and positive numbers; exp overflows",
		func(n *graph.Node) *graph.Node {
			l := logarithms{}
			switch {
			case match.Is(n, match.Log) && l.has(n.In(0)):
				return l.of(n.In(0))
			case match.Is(n, match.Log1p) && l.has(n.In(0)):
				return ops.Softplus(l.term(n.In(0)))
			}
			return nil
		}},
	{"log of an exponential and any number", "log(c + eˣ) = m + log(c·e⁻ᵐ + eˣ⁻ᵐ) for any m: for the larger of x and 0, nothing overflows",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Log) || !match.Is(n.In(0), match.Add) && !match.Is(n.In(0), match.Sub) {
				return nil
			}
			l, s := logarithms{}, n.In(0)
			for i := range 2 {
				e, c := s.In(i), s.In(1-i)
				if !l.has(e) || l.positive(c) || shifted(e, c) {
					continue
				}
				x := l.of(e)
				m := ops.StopGradient(ops.Minimum(ops.Maximum(x, ops.Lit(x, 0)), ops.Lit(x, largest(x))))
				terms := []*graph.Node{ops.Exp(ops.Sub(x, m)), ops.Mul(c, ops.Exp(ops.Neg(m)))}
				return ops.Add(m, ops.Log(n.Graph().Apply(s.Op(), terms[i], terms[1-i])))
			}
			return nil
		}},
	{"quotient of exponentials", "a / (a + b) = σ(log a − log b), (a − b) / (a + b) = tanh(½(log a − log b)), and the largest exponent " +
		"is taken out of any other; ∞ / ∞ is NaN",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Div) {
				return nil
			}
			l, a, s := logarithms{}, n.In(0), n.In(1)
			if !l.has(s) {
				return nil
			}
			if match.Is(s, match.Add) && match.Is(a, match.Sub) {
				for i := range 2 {
					if a.In(0) == s.In(i) && a.In(1) == s.In(1-i) {
						x, y := l.of(a.In(0)), l.of(a.In(1))
						half := x
						if !opposites(x, y) {
							half = ops.Scale(ops.Sub(x, y), 0.5)
						}
						return ops.Tanh(half)
					}
				}
			}
			if !l.positive(a) || !l.overflows(s) {
				return nil
			}
			for i := range 2 {
				if match.Is(s, match.Add) && s.In(i) == a && single(a) && single(s.In(1-i)) {
					return ops.Sigmoid(minus(l.of(a), l.of(s.In(1-i))))
				}
			}
			return l.quotient(n)
		}},
}

// single reports whether a node is one exponential or number, not a sum of them.
func single(n *graph.Node) bool {
	root, _ := match.Laid(n)
	_, ok := match.Literal(root)
	return ok || match.Is(root, match.Exp)
}

// shifted reports whether e and c are the shifted exponential and number that the rule "log of an
// exponential and any number" builds.
func shifted(e, c *graph.Node) bool {
	return match.Is(e, match.Exp) && match.Is(e.In(0), match.Sub) && match.Is(c, match.Mul) && match.Is(c.In(1), match.Exp) && match.Is(c.In(1).In(0), match.Neg) &&
		c.In(1).In(0).In(0) == e.In(0).In(1)
}

// minus returns x − y, as 2x where y is −x.
func minus(x, y *graph.Node) *graph.Node {
	if opposites(x, y) {
		return ops.Scale(x, 2)
	}
	return ops.Sub(x, y)
}

// opposites reports whether one of x and y is the other's negative.
func opposites(x, y *graph.Node) bool {
	return match.Is(x, match.Neg) && x.In(0) == y || match.Is(y, match.Neg) && y.In(0) == x
}

// largest returns the greatest finite number of a node's type.
func largest(n *graph.Node) float64 { return n.DType().Largest() }

// logarithms maps nodes to their logarithms: sums, products, quotients and changed layouts of
// exponentials and positive numbers.
type logarithms map[*graph.Node]*logarithm

// A logarithm records what is known of a node.
type logarithm struct {
	positive bool // it is made of exponentials and positive numbers alone
	has      bool // with an exponential among them
	over     bool // whose largest exponent was not taken out
	made     *graph.Node
}

// manyTerms is the number of nodes to look at before a sum is left alone.
const manyTerms = 200

// positive reports whether a node is made of exponentials and positive numbers alone.
func (l logarithms) positive(n *graph.Node) bool { return l.look(n).positive }

// has reports whether it is positive and has an exponential.
func (l logarithms) has(n *graph.Node) bool { k := l.look(n); return k.positive && k.has }

// overflows reports whether a node has an exponential whose largest exponent was not taken out.
func (l logarithms) overflows(n *graph.Node) bool { k := l.look(n); return k.positive && k.over }

func (l logarithms) look(n *graph.Node) *logarithm {
	if k := l[n]; k != nil {
		return k
	}
	k := &logarithm{}
	if len(l) >= manyTerms || !n.DType().IsFloat() {
		return k
	}
	l[n] = k
	if c, ok := match.Literal(n); ok {
		k.positive = c > 0 && !math.IsInf(c, 0)
		return k
	}
	switch match.KindOf(n) {
	case match.Exp:
		k.positive, k.has, k.over = true, true, !lowered(n.In(0))
	case match.Add, match.Mul, match.Div, match.Concat, match.Square, match.Sum, match.Mean, match.Reshape, match.Transpose, match.Broadcast, match.Slice:
		k.positive = n.In(0).Shape().Len() > 0
		for _, in := range n.Inputs() {
			if c, ok := match.Literal(in); ok && c == 0 && match.Is(n, match.Add) {
				continue
			}
			of := l.look(in)
			k.positive, k.has, k.over = k.positive && of.positive, k.has || of.has, k.over || of.over
		}
	}
	return k
}

// of returns the logarithm of a node.
func (l logarithms) of(n *graph.Node) *graph.Node {
	k := l.look(n)
	if k.made == nil {
		k.made = l.make(n)
	}
	return k.made
}

func (l logarithms) make(n *graph.Node) *graph.Node {
	if c, ok := match.Literal(n); ok {
		return ops.BroadcastTo(ops.Lit(n, math.Log(c)), n.Shape())
	}
	switch match.KindOf(n) {
	case match.Exp:
		return n.In(0)
	case match.Mul:
		return ops.Add(l.of(n.In(0)), l.of(n.In(1)))
	case match.Div:
		return minus(l.of(n.In(0)), l.of(n.In(1)))
	case match.Square:
		return ops.Scale(l.of(n.In(0)), 2)
	case match.Add:
		return l.sum(n.In(0), n.In(1))
	}
	if _, axes, ok := reduced(n); ok {
		return overAll(n, axes, l.of(n.In(0)))
	}
	var in []*graph.Node // a change of layout is the same for the logarithms
	for _, x := range n.Inputs() {
		in = append(in, l.of(x))
	}
	return n.Graph().Apply(n.Op(), in...)
}

// sum is log(a + b).
func (l logarithms) sum(a, b *graph.Node) *graph.Node {
	if _, ok := match.Literal(a); ok {
		a, b = b, a
	}
	if c, ok := match.Literal(b); ok {
		if c == 0 {
			return l.of(a)
		}
		return logSumWith(l.term(a), c)
	}
	x, y := l.term(a), l.term(b)
	apart := minus(x, y)
	if !opposites(x, y) {
		apart = ops.Select(ops.Equal(x, y), ops.Lit(x, 0), apart) // ∞ − ∞ among it
	}
	return logSum(x, y, apart)
}

// term returns the logarithm of a term of a sum. A sum of exponentials that are all 0 has no
// derivative, but with another term it has one: the least finite number stands in for −∞.
func (l logarithms) term(n *graph.Node) *graph.Node {
	_, axes, ok := reduced(n)
	if !ok {
		return l.of(n)
	}
	x := l.of(n.In(0))
	return overAll(n, axes, ops.Maximum(x, ops.Lit(x, -largest(x))))
}

// overAll returns the logarithm of a sum or a mean over axes, given the logarithms of its elements.
func overAll(n *graph.Node, axes attr.AxisSet, x *graph.Node) *graph.Node {
	l := ops.ReshapeTo(logSumExp(x, axes), n.Shape())
	if match.Is(n, match.Mean) {
		l = ops.Shift(l, -math.Log(float64(x.Shape().Len())/float64(n.Shape().Len())))
	}
	return l
}

// logSumWith returns log(c + exp(x)).
func logSumWith(x *graph.Node, c float64) *graph.Node {
	at := math.Log(c)
	switch {
	case c == 1:
		return ops.Softplus(x)
	case c > 1:
		return ops.Shift(ops.Softplus(ops.Shift(x, -at)), at)
	}
	// log c is negative, and would cancel with the softplus of x near 0.
	return logSum(x, ops.Lit(x, at), ops.Shift(x, -at))
}

// logSum returns log(exp(x) + exp(y)): the larger of x and y, plus a softplus of their distance.
func logSum(x, y, apart *graph.Node) *graph.Node {
	return ops.Add(ops.Maximum(x, y), ops.Softplus(ops.Neg(ops.Abs(apart))))
}
