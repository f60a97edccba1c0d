package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// boxes compares matched boxes: a node and the hidden nodes of its formula, down to what is drawn.
type boxes struct {
	d        *Difference
	met      map[Pair]verdict
	replaced []Pair // drawn operands of the last two boxes that stand in one place and are not matched
	kept     int    // the number of their operands that are matched
}

// verdict says how two formulas compare. The greatest that holds for a part of them holds for the
// whole.
type verdict uint8

const (
	alike  verdict = iota // the same formula, whatever the operands are
	termA                 // A adds up more terms
	termB                 // B adds up more terms
	unlike                // another formula
)

// of compares the formulas of two matched boxes.
func (c *boxes) of(p Pair) verdict {
	if d := c.d; d.a.backward[p.A] {
		switch ta, tb := terms(p.A, d.a.of[p.A].Of), terms(p.B, d.b.of[p.B].Of); {
		case ta > tb:
			return termA
		case tb > ta:
			return termB
		}
		return alike
	}
	c.replaced, c.kept = nil, 0
	out := c.rules(p.A, p.B)
	if out == alike && c.kept == 0 && len(c.replaced) > 0 && givenName(p.A) != givenName(p.B) {
		return unlike // the operation is all that the two have in common
	}
	return out
}

// rules compares the formulas of two nodes that are drawn or in the formula of one.
func (c *boxes) rules(a, b *graph.Node) verdict {
	va, vb := c.d.match.va, c.d.match.vb
	if va.form(a, true) != vb.form(b, true) {
		return c.sums(a, b)
	}
	as, bs := va.operands(a), vb.operands(b)
	if len(as) != len(bs) {
		return unlike
	}
	out := c.operands(as, bs)
	if out != alike && len(as) == 2 && commutes(a) {
		out = min(out, c.operands(as, []*graph.Node{bs[1], bs[0]}))
	}
	return out
}

func (c *boxes) operands(as, bs []*graph.Node) (out verdict) {
	for i := range as {
		out = max(out, c.operand(as[i], bs[i]))
	}
	return out
}

// operand compares two operands: what is drawn may differ, as another box says it; what is part
// of the formula may not, but for the numbers in it.
func (c *boxes) operand(a, b *graph.Node) (out verdict) {
	va, vb := c.d.a, c.d.b
	for isLayout(a) && !va.visible[a] {
		a = a.In(0)
	}
	for isLayout(b) && !vb.visible[b] {
		b = b.In(0)
	}
	_, number := singleNumber(a)
	_, other := singleNumber(b)
	switch {
	case number && other:
		return alike
	case c.d.match.a[a] == b && (c.d.match.exact[a] || va.visible[a]):
		c.kept++
		return alike
	case va.visible[a] && vb.visible[b]:
		c.replaced = append(c.replaced, Pair{a, b})
		return alike
	case number || other || va.visible[a] || vb.visible[b]:
		return c.sums(a, b)
	}
	p := Pair{a, b}
	if v, met := c.met[p]; met {
		return v
	}
	out = c.rules(a, b)
	c.met[p] = out
	return out
}

// sums compares two sums of which one has more terms, among which are those of the other.
func (c *boxes) sums(a, b *graph.Node) verdict {
	as, bs := summands(c.d.a, a, nil), summands(c.d.b, b, nil)
	out := termA
	if len(as) < len(bs) {
		out = termB
	}
	if len(as) == len(bs) {
		return unlike
	}
	left := slices.Clone(as)
	few := bs
	if out == termB {
		left, few = slices.Clone(bs), as
	}
	for _, x := range few {
		k := slices.IndexFunc(left, func(y *graph.Node) bool {
			if out == termB {
				return c.term(x, y)
			}
			return c.term(y, x)
		})
		if k < 0 {
			return unlike
		}
		left = slices.Delete(left, k, k+1)
	}
	return out
}

// term reports whether two terms are the same: matched, or hidden and of one formula.
func (c *boxes) term(a, b *graph.Node) bool {
	if c.d.match.a[a] != nil || c.d.match.b[b] != nil {
		return c.d.match.a[a] == b
	}
	return !c.d.a.visible[a] && !c.d.b.visible[b] && c.rules(a, b) == alike
}

// summands lists the terms of a sum, as far as these are part of its formula.
func summands(v *view, n *graph.Node, out []*graph.Node) []*graph.Node {
	for isLayout(n) && !v.visible[n] {
		n = n.In(0)
	}
	if !match.Is(n, match.Add) || v.visible[n] {
		return append(out, n)
	}
	return summands(v, n.In(1), summands(v, n.In(0), out))
}
