package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// matching pairs the nodes of two graphs, or of two sets of roots in one graph, by what they
// compute. Names, sizes, the order of construction and leading axes decide between equals only.
//
// Values are matched in the two steps of GumTree (Falleri et al., Fine-grained and accurate source
// code differencing, ASE 2014), with the data flow for the tree and scopes for the containers:
//
//  1. The largest subgraphs that are equal up to the names of leaves and axes, largest first; see
//     [matching.largest]. Equality is that of hash-consed forms, so that this takes linear time.
//  2. Scopes that hold like operations, in order, by the Dice coefficient; in each pair of scopes
//     the nodes whose surroundings are alike, by signatures of operands and users as in the
//     refinement of Weisfeiler and Leman; and from each pair on the operands and users that stand
//     in the same place, those with most matched neighbours first. See [matching.recover].
//
// Pairs that would turn the two flows into a circle, because the sides do things in another order,
// are dissolved; see [matching.order].
//
// Derivatives are matched where the values they belong to are: first those computed alike, which
// are the same; then the derivatives of one value, and steps of one rule, whose operands may
// differ. The derivatives of the losses by themselves are 1 on both sides.
type matching struct {
	a, b          map[*graph.Node]*graph.Node // from each side to the other
	exact         map[*graph.Node]bool        // by node of A: the same computation on both sides
	scope, origin map[string]string           // the matched scopes, from A to B and back
	va, vb        *values
}

func matched(va, vb *view) *matching {
	m := &matching{a: map[*graph.Node]*graph.Node{}, b: map[*graph.Node]*graph.Node{}, exact: map[*graph.Node]bool{},
		scope: map[string]string{}, origin: map[string]string{}}
	ids := map[string]int{}
	as, bs := withForward(va.cone), withForward(vb.cone)
	m.va, m.vb = newValues(va, as, ids), newValues(vb, bs, ids)
	scopes := m.align(scopesOf(m.va), scopesOf(m.vb))
	m.largest()
	m.recover(scopes)
	m.judge(m.va.nodes)
	m.order()
	m.follow()
	m.judge(as)
	m.derivatives(as, bs)
	return m
}

// swapped returns the matching with the sides exchanged.
func (m *matching) swapped() *matching {
	s := &matching{a: m.b, b: m.a, exact: map[*graph.Node]bool{}, scope: m.origin, origin: m.scope, va: m.vb, vb: m.va}
	for a, same := range m.exact {
		if b := m.a[a]; b != nil {
			s.exact[b] = same
		}
	}
	return s
}

// pair matches two nodes unless one of them is matched already.
func (m *matching) pair(a, b *graph.Node) bool {
	if m.a[a] != nil || m.b[b] != nil {
		return false
	}
	m.a[a], m.b[b] = b, a
	return true
}

// free reports whether neither node is matched.
func (m *matching) free(a, b *graph.Node) bool { return m.a[a] == nil && m.b[b] == nil }

// judge finds out which of the matched nodes, listed inputs before their users, are the same.
func (m *matching) judge(nodes []*graph.Node) {
	for _, n := range nodes {
		if m.a[n] != nil {
			m.exact[n] = m.same(n, m.a[n])
		}
	}
}

// same reports whether two matched nodes are computed alike, given that this is known of their
// operands.
func (m *matching) same(a, b *graph.Node) bool {
	if m.va.form(a, true) != m.vb.form(b, true) {
		return false
	}
	as, bs := m.va.operands(a), m.vb.operands(b)
	return len(as) == len(bs) && (m.alike(as, bs) || commutes(a) && m.alike(as, []*graph.Node{bs[1], bs[0]}))
}

// alike reports whether the operands of two nodes are the same, one by one.
func (m *matching) alike(as, bs []*graph.Node) bool {
	for i := range as {
		x, onX := lie(as[i])
		y, onY := lie(bs[i])
		if onX != onY {
			return false
		}
		p, number := singleNumber(x)
		q, other := singleNumber(y)
		if number != other || number && p != q || !number && (m.a[x] != y || !m.exact[x]) {
			return false
		}
	}
	return true
}

func commutes(n *graph.Node) bool {
	_, ok := n.Op().(trait.Commutative)
	return ok
}
