package rewrite

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// factors lists the rules that gather scalars and move them to the smallest array that they can
// multiply: the 1/n of a mean, which a derivative carries through every array on its way back, ends
// beside the learning rate.
var factors = []Rule{
	{"gather factors", "s·(t·x) = (s·t)·x: one product over the array instead of two", func(n *graph.Node) *graph.Node {
		if p := factored(n); p.count >= 2 && multiplies(n) && p.k.fits(n.DType()) {
			return p.k.of(p.rest())
		}
		return nil
	}},
	{"factor of the smaller", "s·(x·r) = x·(s·r) where r is repeated", func(n *graph.Node) *graph.Node {
		p, r := factored(n), smaller(n, depth)
		if p.count == 0 || r == nil || !multiplies(n) || !p.k.fits(n.DType()) {
			return nil
		}
		x := p.rest()
		if y := replaced(x, r, ops.BroadcastTo(p.k.of(r.In(0)), r.Shape()), depth); y != x {
			return y
		}
		return nil
	}},
	{"factor out of a sum", "Σ s·x = s·Σ x, and so for means", func(n *graph.Node) *graph.Node {
		if _, along := n.Op().(trait.Along); !along {
			return nil
		}
		return outside(n)
	}},
	{"factor out of a product", "(s·a)·b = s·(a·b) where the result is no larger than a: in matrix products, convolutions and the like",
		func(n *graph.Node) *graph.Node {
			if _, along := n.Op().(trait.Along); along {
				return nil
			}
			return outside(n)
		}},
	{"common factor", "s·x ± s·t·y = s·(x ± t·y), where that takes no more products", common},
}

// multiplies reports whether the node is a product or quotient itself.
func multiplies(n *graph.Node) bool {
	return match.Is(n, match.Mul) || match.Is(n, match.Div) || match.Is(n, match.Neg)
}

// outside moves factors out of a linear operation, from those operands that are no smaller than its
// result.
func outside(n *graph.Node) *graph.Node {
	op, ok := n.Op().(trait.Linear)
	if !ok {
		return nil
	}
	k, count := one, 0
	in := make([]product, n.NumIn())
	for i := range in {
		in[i] = product{k: one, whole: n.In(i)}
		if op.Linear(i) && n.In(i).Shape().Len() >= n.Shape().Len() {
			in[i] = factored(n.In(i))
		}
		k, count = k.times(in[i].k), count+in[i].count
	}
	if count == 0 || !k.fits(n.DType()) {
		return nil
	}
	rest := make([]*graph.Node, n.NumIn())
	for i := range rest {
		rest[i] = in[i].rest()
	}
	return k.of(ops.ReshapeTo(n.Graph().Apply(n.Op(), rest...), n.Shape()))
}

// smaller finds, among the factors of a product, a smaller array that is repeated.
func smaller(n *graph.Node, depth int) *graph.Node {
	if match.Is(n, match.Broadcast) {
		if _, is := scalar(n); !is && n.In(0).Shape().Len() < n.Shape().Len() {
			return n
		}
		return nil
	}
	if depth > 0 && (match.Is(n, match.Mul) || match.Is(n, match.Neg)) {
		for i := range n.NumIn() {
			if r := smaller(n.In(i), depth-1); r != nil {
				return r
			}
		}
	}
	return nil
}

// replaced returns the product n with r in place of one of its factors.
func replaced(n, old, r *graph.Node, depth int) *graph.Node {
	if n == old {
		return r
	}
	if depth > 0 && (match.Is(n, match.Mul) || match.Is(n, match.Reshape) && n.Shape().SameSizes(n.In(0).Shape())) {
		for i := range n.NumIn() {
			if x := replaced(n.In(i), old, r, depth-1); x != n.In(i) {
				in := n.Inputs()
				in[i] = x
				return ops.ReshapeTo(n.Graph().Apply(n.Op(), in...), n.Shape())
			}
		}
	}
	return n
}

// common moves the common factors of two terms out of their sum or difference, unless that makes
// more products of whole arrays. Where a smaller, repeated array of a term was multiplied, the
// term's remaining factor goes back to that array.
func common(n *graph.Node) *graph.Node {
	if !match.Is(n, match.Add) && !match.Is(n, match.Sub) || !n.DType().IsFloat() {
		return nil
	}
	a, b := search(n.In(0), depth, true), search(n.In(1), depth, true)
	before, after := min(a.count, 1)+min(b.count, 1), 1
	if before == 0 {
		return nil
	}
	if match.Is(n, match.Sub) {
		b.k.over = -b.k.over
	}
	j, minus := a.k.atoms().magnitude()
	k, less := b.k.atoms().magnitude()
	both, j, k := inCommon(j, k)
	if minus && less {
		both.over, minus, less = -both.over, false, false
	}
	if !j.isOne() {
		after += min(a.count, 1)
	}
	if !k.isOne() {
		after += min(b.count, 1)
	}
	if both.isOne() || after > before || !both.fits(n.DType()) || !j.fits(n.DType()) || !k.fits(n.DType()) {
		return nil
	}
	x, y := j.of(a.rest()), k.of(b.rest())
	switch {
	case less:
		x = ops.Sub(x, y)
	case minus:
		x = ops.Sub(y, x)
	default:
		x = ops.Add(x, y)
	}
	return both.of(x)
}

// magnitude returns k without its sign, and whether the sign is negative.
func (k factor) magnitude() (of factor, negative bool) {
	negative = k.over*k.under < 0
	k.over, k.under = math.Abs(k.over), math.Abs(k.under)
	return k, negative
}

// inCommon splits two positive factors into the part that both have and the parts that only one
// has; their numbers are common only if they are equal.
func inCommon(j, k factor) (both, onlyJ, onlyK factor) {
	both = one
	both.num, j.num, k.num = shared(j.num, k.num)
	both.den, j.den, k.den = shared(j.den, k.den)
	if j.over*k.under == k.over*j.under {
		both.over, both.under = j.over, j.under
		j.over, j.under, k.over, k.under = 1, 1, 1, 1
	}
	return both, j, k
}

// atoms splits scalars that are products themselves.
func (k factor) atoms() factor {
	out := factor{over: k.over, under: k.under}
	for _, n := range k.num {
		out = out.times(atoms(n, depth))
	}
	for _, n := range k.den {
		a := atoms(n, depth)
		out = out.times(factor{a.under, a.over, a.den, a.num})
	}
	return out
}

func atoms(n *graph.Node, depth int) factor {
	if v, ok := match.Literal(n); ok {
		return factor{over: v, under: 1}
	}
	if depth > 0 {
		switch match.KindOf(n) {
		case match.Neg:
			return atoms(n.In(0), depth-1).times(factor{over: -1, under: 1})
		case match.Mul:
			return atoms(n.In(0), depth-1).times(atoms(n.In(1), depth-1))
		case match.Div:
			a := atoms(n.In(1), depth-1)
			return atoms(n.In(0), depth-1).times(factor{a.under, a.over, a.den, a.num})
		case match.Reshape:
			return atoms(n.In(0), depth-1)
		}
	}
	return factor{over: 1, under: 1, num: []*graph.Node{n}}
}

// shared splits two lists into the elements of both and the elements of only one.
func shared(a, b []*graph.Node) (both, onlyA, onlyB []*graph.Node) {
	onlyB = slices.Clone(b)
	for _, n := range a {
		if i := slices.Index(onlyB, n); i >= 0 {
			both, onlyB = append(both, n), slices.Delete(onlyB, i, i+1)
		} else {
			onlyA = append(onlyA, n)
		}
	}
	return both, onlyA, onlyB
}
