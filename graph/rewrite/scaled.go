package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// A scaled number is p·eᵐ with a p of ordinary size. In this form a quotient of sums of
// exponentials does not overflow and keeps all digits; exp(log a − log b) would lose those that
// large logarithms cannot hold.
type scaled struct {
	p *graph.Node // nil is 1
	m *graph.Node // nil is 0
}

// scaled returns this form of a node that is made of exponentials and positive numbers alone.
func (l logarithms) scaled(n *graph.Node) scaled {
	if !l.has(n) {
		return scaled{p: n}
	}
	if l.isSum(n) {
		m := takenOut(l.peak(n))
		return scaled{l.under(n, m), m}
	}
	var in []scaled
	for _, x := range n.Inputs() {
		in = append(in, l.scaled(x))
	}
	switch match.KindOf(n) {
	case match.Exp:
		return scaled{m: n.In(0)}
	case match.Mul:
		return in[0].times(in[1])
	case match.Square:
		return in[0].times(in[0])
	case match.Div:
		return in[0].over(in[1])
	}
	var p, m []*graph.Node // a change of layout
	for i, x := range n.Inputs() {
		p = append(p, ops.BroadcastTo(in[i].factor(x), x.Shape()))
		m = append(m, ops.BroadcastTo(in[i].exponent(x), x.Shape()))
	}
	return scaled{n.Graph().Apply(n.Op(), p...), n.Graph().Apply(n.Op(), m...)}
}

// isSum reports whether a node is a sum or a mean of exponentials and other numbers.
func (l logarithms) isSum(n *graph.Node) bool {
	_, _, ok := reduced(n)
	return l.has(n) && (ok || match.Is(n, match.Add))
}

// peak returns the largest exponent of the terms of a sum.
func (l logarithms) peak(n *graph.Node) *graph.Node {
	if !l.isSum(n) {
		return l.scaled(n).exponent(n)
	}
	if match.Is(n, match.Add) {
		return ops.Maximum(l.peak(n.In(0)), l.peak(n.In(1)))
	}
	_, axes, _ := reduced(n)
	args := []any{ops.Keep}
	for _, axis := range axes.List() {
		args = append(args, axis)
	}
	return ops.ReshapeTo(ops.Max(ops.BroadcastTo(l.peak(n.In(0)), n.In(0).Shape()), args...), n.Shape())
}

// under returns n·e⁻ᵐ, with m taken out of every term of a sum.
func (l logarithms) under(n, m *graph.Node) *graph.Node {
	if !l.isSum(n) {
		s := l.scaled(n)
		e := ops.Neg(m)
		if s.m != nil {
			e = ops.Sub(s.m, m)
		}
		return with(s.p, ops.Exp(e), ops.Mul)
	}
	if match.Is(n, match.Add) {
		return ops.Add(l.under(n.In(0), m), l.under(n.In(1), m))
	}
	x, axes, _ := reduced(n)
	kept := x.Shape().Axes()
	for _, axis := range axes.List() {
		kept[axis].Size = 1
	}
	shape, err := graph.NewShape(kept...)
	if err != nil {
		return n
	}
	m = ops.ReshapeTo(ops.BroadcastTo(m, n.Shape()), shape)
	return n.Graph().Apply(n.Op(), ops.BroadcastTo(l.under(x, m), x.Shape()))
}

// times returns a·b.
func (a scaled) times(b scaled) scaled {
	return scaled{with(a.p, b.p, ops.Mul), with(a.m, b.m, ops.Add)}
}

// over returns a/b.
func (a scaled) over(b scaled) scaled {
	p, m := a.p, a.m
	if b.p != nil {
		p = ops.Div(a.factor(b.p), b.p)
	}
	switch {
	case m == nil && b.m != nil:
		m = ops.Neg(b.m)
	case b.m != nil:
		m = minus(m, b.m)
	}
	return scaled{p, m}
}

// with returns f(a, b), or the one that is not nil.
func with(a, b *graph.Node, f func(...*graph.Node) *graph.Node) *graph.Node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return f(a, b)
}

// factor returns p, also where it is 1; of tells its type.
func (a scaled) factor(of *graph.Node) *graph.Node {
	if a.p == nil {
		return ops.Lit(of, 1)
	}
	return a.p
}

// exponent returns m, also where it is 0.
func (a scaled) exponent(of *graph.Node) *graph.Node {
	if a.m == nil {
		return ops.Lit(of, 0)
	}
	return a.m
}

// takenOut returns an exponent that derivatives treat as a constant. It is finite, since ∞ − ∞ is
// NaN.
func takenOut(m *graph.Node) *graph.Node {
	if !atLeast(m, nil) {
		m = ops.Maximum(m, ops.Lit(m, -largest(m)))
	}
	return ops.StopGradient(ops.Minimum(m, ops.Lit(m, largest(m))))
}

// quotient returns a/b for a node that is a quotient.
func (l logarithms) quotient(n *graph.Node) *graph.Node {
	a, b := l.scaled(n.In(0)), l.scaled(n.In(1))
	q := scaled{m: a.m}.over(scaled{m: b.m})
	if q.m != nil {
		a.p = with(a.p, ops.Exp(q.m), ops.Mul)
	}
	return scaled{p: a.p}.over(scaled{p: b.p}).p
}

// lowered reports whether the largest exponent was taken out of e, so that exp(e) does not
// overflow: by these rules, or as x − m or −m, where m is at least x or at least 0.
func lowered(e *graph.Node) bool {
	root, _ := match.Laid(e)
	var m, x *graph.Node
	switch {
	case match.Is(root, match.Sub):
		x, _ = match.Laid(root.In(0))
		m = root.In(1)
	case match.Is(root, match.Neg):
		m = root.In(0)
	}
	return m != nil && atLeast(m, x) || reaches(root, takenOutAlready, match.Add, match.Sub, match.Mul, match.Neg)
}

// atLeast reports whether m is a maximum of x, or of 0 for a nil x, and maybe of others.
func atLeast(m, x *graph.Node) bool {
	return reaches(m, func(n *graph.Node) bool {
		c, ok := match.Literal(n)
		return n == x || x == nil && ok && c >= 0
	}, match.StopGradient, match.Max, match.Maximum)
}

// takenOutAlready reports whether takenOut made a node.
func takenOutAlready(n *graph.Node) bool {
	return match.Is(n, match.StopGradient) && reaches(n.In(0), func(n *graph.Node) bool {
		c, ok := match.Literal(n)
		return ok && c == largest(n)
	}, match.Minimum)
}

// reaches reports whether found holds for a node or one that it is made of by the given operations
// and changes of layout.
func reaches(n *graph.Node, found func(*graph.Node) bool, through ...match.Kind) bool {
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node) bool
	visit = func(n *graph.Node) bool {
		n, _ = match.Laid(n)
		if seen[n] || len(seen) == manyTerms {
			return false
		}
		seen[n] = true
		return found(n) || slices.Contains(through, match.KindOf(n)) && slices.ContainsFunc(n.Inputs(), visit)
	}
	return visit(n)
}
