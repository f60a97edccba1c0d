package viz

import (
	"cmp"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// manyPairs limits how many pairs of like nodes are compared with each other; where there are
// more, the nodes are paired in order.
const manyPairs = 10_000

// likeness is a pair that could be matched, by place among the values, and what speaks for it.
type likeness struct{ a, b, score int }

// largest matches the largest subgraphs that are equal up to the names of their leaves, largest
// first. Of several equal ones those are matched that are used alike, then those of one name, then
// those at one place in the order. Where neither the uses nor the scopes agree, the parts of the
// two are matched by themselves.
func (m *matching) largest() {
	groups := map[int][2][]int{}
	for side, w := range []*values{m.va, m.vb} {
		for i := range w.nodes {
			if w.height[i] > 0 {
				g := groups[w.equal[i]]
				g[side] = append(g[side], i)
				groups[w.equal[i]] = g
			}
		}
	}
	var order []int // of the first node of A
	for i := range m.va.nodes {
		if g := groups[m.va.equal[i]]; len(g[0]) > 0 && g[0][0] == i && len(g[1]) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(m.va.height[y], m.va.height[x]) })
	for _, i := range order {
		m.va.look()
		g := groups[m.va.equal[i]]
		for _, l := range m.likely(g[0], g[1]) {
			a, b := m.va.nodes[l.a], m.vb.nodes[l.b]
			sure := l.score > 0 || len(g[0]) == 1 && len(g[1]) == 1
			if sure && m.free(a, b) && (m.va.up[reach][l.a] == m.vb.up[reach][l.b] || !m.apart(l.a, l.b)) {
				m.grow(l.a, l.b)
			}
		}
	}
}

// likely lists the pairs of two groups of like nodes that are not matched, the likeliest first.
func (m *matching) likely(as, bs []int) []likeness {
	as = slices.DeleteFunc(slices.Clone(as), func(i int) bool { return m.a[m.va.nodes[i]] != nil })
	bs = slices.DeleteFunc(slices.Clone(bs), func(i int) bool { return m.b[m.vb.nodes[i]] != nil })
	var out []likeness
	if len(as)*len(bs) > manyPairs {
		for k := range min(len(as), len(bs)) {
			out = append(out, likeness{as[k], bs[k], m.likeness(as[k], bs[k])})
		}
		return out
	}
	for _, a := range as {
		for _, b := range bs {
			out = append(out, likeness{a, b, m.likeness(a, b)})
		}
	}
	slices.SortStableFunc(out, func(x, y likeness) int { return cmp.Compare(y.score, x.score) })
	return out
}

// likeness counts what two nodes have in common beside their own operations: how far up and down
// their surroundings are alike, and their names.
func (m *matching) likeness(a, b int) int {
	score := 0
	for r := 1; r <= reach && m.va.up[r][a] == m.vb.up[r][b]; r++ {
		score += 4
	}
	for r := 1; r <= reach && m.va.down[r][a] == m.vb.down[r][b]; r++ {
		score += 4
	}
	x, y := m.va.nodes[a], m.vb.nodes[b]
	if s := givenName(x); s != "" && s == givenName(y) {
		score += 2
	}
	if m.va.called[a] == m.vb.called[b] {
		score++
	}
	if m.va.home[x] == m.vb.home[y] && x.Path() == y.Path() {
		score++
	}
	return score
}

// grow matches two nodes of equal form with all that they depend on, or, where that contradicts
// what is matched already, nothing.
func (m *matching) grow(a, b int) bool {
	var done []*graph.Node
	var walk func(a, b int) bool
	walk = func(a, b int) bool {
		x, y := m.va.nodes[a], m.vb.nodes[b]
		if !m.free(x, y) {
			return m.a[x] == y
		}
		if m.va.equal[a] != m.vb.equal[b] {
			return false
		}
		m.pair(x, y)
		done = append(done, x)
		as, bs := m.va.in[a], m.vb.in[b]
		straight := func(bs []operand) bool {
			for k := range as {
				if as[k].how != bs[k].how || (as[k].node < 0) != (bs[k].node < 0) || as[k].node >= 0 && !walk(as[k].node, bs[k].node) {
					return false
				}
			}
			return true
		}
		if !commutes(x) || len(as) != 2 || len(bs) != 2 {
			return straight(bs)
		}
		mark, turned := len(done), []operand{bs[1], bs[0]}
		if m.oneName(as[0], turned[0]) || m.oneName(as[1], turned[1]) {
			bs, turned = turned, bs
		}
		if straight(bs) {
			return true
		}
		m.undo(done[mark:])
		done = done[:mark]
		return straight(turned)
	}
	if walk(a, b) && (m.va.up[1][a] == m.vb.up[1][b] || !slices.ContainsFunc(done, func(x *graph.Node) bool {
		return x.Role() != m.a[x].Role() && givenName(x) != givenName(m.a[x])
	})) {
		return true
	}
	m.undo(done)
	return false
}

// oneName reports whether two operands are equal in the names of leaves too.
func (m *matching) oneName(a, b operand) bool {
	return a.node >= 0 && b.node >= 0 && m.va.called[a.node] == m.vb.called[b.node]
}

func (m *matching) undo(nodes []*graph.Node) {
	for _, x := range nodes {
		delete(m.b, m.a[x])
		delete(m.a, x)
	}
}
