package viz

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// recover matches values that are not equal but stand in the same place. Pairs of scopes are
// gone through from the inner to the outer ones, first for nodes whose surroundings are alike
// far up and down, then less far; after each such step, pairs spread to their neighbours.
func (m *matching) recover(pairs [][2]*scope) {
	m.spread(m.neighbours(), true)
	for r := reach; r >= 0; r-- {
		for _, p := range pairs {
			m.va.look()
			var next []likeness
			for _, pair := range m.surrounded(p[0].nodes, p[1].nodes, r) {
				if !m.apart(pair[0], pair[1]) {
					next = append(next, m.match(pair[0], pair[1])...)
				}
			}
			m.spread(next, true)
		}
	}
	m.spread(m.neighbours(), false)
	m.namesakes()
}

// namesakes matches the leaves that are left over with those of one role and path.
func (m *matching) namesakes() {
	type namesake struct {
		role graph.Role
		path string
	}
	left := map[namesake]*graph.Node{}
	for _, n := range m.va.nodes {
		if m.a[n] == nil && n.Path() != "" {
			left[namesake{n.Role(), n.Path()}] = n
		}
	}
	for _, n := range m.vb.nodes {
		if x := left[namesake{n.Role(), n.Path()}]; x != nil && m.va.form(x, true) == m.vb.form(n, true) {
			m.pair(x, n)
		}
	}
}

// scope is a scope of values with those inside it.
type scope struct {
	path  string
	nodes []int // also of the inner scopes
	count map[int]int
	inner []*scope // in the order of their first operations: parameters stand before all of them
}

func scopesOf(w *values) *scope {
	root := &scope{count: map[int]int{}}
	known := map[string]*scope{"": root}
	var find func(path string) *scope
	find = func(path string) *scope {
		s := known[path]
		if s == nil {
			s = &scope{path: path, count: map[int]int{}}
			known[path] = s
			outer := find(parent(path))
			outer.inner = append(outer.inner, s)
		}
		return s
	}
	leavesLast := make([]int, len(w.nodes))
	for i := range leavesLast {
		leavesLast[i] = i
	}
	slices.SortStableFunc(leavesLast, func(i, j int) int { return cmp.Compare(min(len(w.in[j]), 1), min(len(w.in[i]), 1)) })
	for _, i := range leavesLast {
		for path := clean(w.home[w.nodes[i]]); ; path = parent(path) {
			s := find(path)
			s.nodes = append(s.nodes, i)
			s.count[w.down[0][i]]++
			if path == "" {
				break
			}
		}
	}
	return root
}

// align pairs the scopes inside two scopes, and then those inside of these; it returns the pairs,
// inner ones first. Pairs keep the order of both sides, and are as much alike, all together, as can
// be; see [dice].
func (m *matching) align(a, b *scope) (pairs [][2]*scope) {
	m.scope[a.path], m.origin[b.path] = b.path, a.path
	rows, columns := len(a.inner), len(b.inner)
	if rows*columns <= manyPairs {
		best := make([][]float64, rows+1)
		for i := range best {
			best[i] = make([]float64, columns+1)
		}
		like := make([][]float64, rows)
		for i := rows - 1; i >= 0; i-- {
			like[i] = make([]float64, columns)
			for j := columns - 1; j >= 0; j-- {
				best[i][j] = max(best[i+1][j], best[i][j+1])
				if s := dice(a.inner[i], b.inner[j]); s > 0 {
					like[i][j] = s
					best[i][j] = max(best[i][j], best[i+1][j+1]+s)
				}
			}
		}
		for i, j := 0, 0; i < rows && j < columns; {
			switch {
			case like[i][j] > 0 && best[i][j] == best[i+1][j+1]+like[i][j]:
				pairs = append(pairs, m.align(a.inner[i], b.inner[j])...)
				i, j = i+1, j+1
			case best[i][j] == best[i+1][j]:
				i++
			default:
				j++
			}
		}
	}
	return append(pairs, [2]*scope{a, b})
}

// dice returns twice the number of operations that two scopes have in common, by the number that
// they have, or 0 if that is less than one half. Scopes of one name are more alike by a little, and
// need not be of like sizes: it is enough that half of the smaller is in the larger.
func dice(a, b *scope) float64 {
	common := 0
	for op, n := range a.count {
		common += min(n, b.count[op])
	}
	alike := 2 * float64(common) / float64(len(a.nodes)+len(b.nodes))
	switch {
	case lastName(a.path) == lastName(b.path) && 2*common >= min(len(a.nodes), len(b.nodes)):
		return alike + 0.1
	case alike < 0.5:
		return 0
	}
	return alike
}

func lastName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// surrounded pairs the unmatched operations of two scopes whose surroundings are alike r steps up
// and down, if both sides have as many of them: those of one name, then in order.
func (m *matching) surrounded(as, bs []int, r int) (pairs [][2]int) {
	type signature struct{ down, up int }
	groups := map[signature][2][]int{}
	var order []signature
	for side, list := range [][]int{as, bs} {
		w, met := m.va, m.a
		if side == 1 {
			w, met = m.vb, m.b
		}
		for _, i := range list {
			if met[w.nodes[i]] != nil || len(w.in[i]) == 0 {
				continue
			}
			s := signature{w.down[r][i], w.up[r][i]}
			g := groups[s]
			if side == 0 && len(g[0]) == 0 {
				order = append(order, s)
			}
			g[side] = append(g[side], i)
			groups[s] = g
		}
	}
	for _, s := range order {
		g := groups[s]
		if len(g[0]) != len(g[1]) {
			continue
		}
		left := slices.Clone(g[1])
		var rest []int
		for _, a := range g[0] {
			name := givenName(m.va.nodes[a])
			k := slices.IndexFunc(left, func(b int) bool { return name != "" && name == givenName(m.vb.nodes[b]) })
			if k < 0 {
				rest = append(rest, a)
				continue
			}
			pairs = append(pairs, [2]int{a, left[k]})
			left = slices.Delete(left, k, k+1)
		}
		for k, a := range rest {
			pairs = append(pairs, [2]int{a, left[k]})
		}
	}
	return pairs
}

// apart reports whether the scope of one of two operations is matched, but not with that of the
// other.
func (m *matching) apart(a, b int) bool {
	x, y := m.va.nodes[a], m.vb.nodes[b]
	from, to := clean(m.va.home[x]), clean(m.vb.home[y])
	p, metA := m.scope[from]
	q, metB := m.origin[to]
	return x.NumIn() > 0 && (from != "" && metA && p != to || to != "" && metB && q != from)
}

// match pairs two values and returns their neighbours that could be matched next.
func (m *matching) match(a, b int) []likeness {
	if !m.pair(m.va.nodes[a], m.vb.nodes[b]) {
		return nil
	}
	return m.around(a, b)
}

// neighbours returns what could be matched beside the pairs that there are.
func (m *matching) neighbours() (next []likeness) {
	for i, n := range m.va.nodes {
		if y := m.a[n]; y != nil {
			next = append(next, m.around(i, m.vb.at[y])...)
		}
	}
	return next
}

// around lists the pairs of operands, and of users, that stand in the same place beside two matched
// nodes and are of one operation.
func (m *matching) around(a, b int) (next []likeness) {
	add := func(x, y int) {
		if x >= 0 && y >= 0 && m.va.down[0][x] == m.vb.down[0][y] && m.free(m.va.nodes[x], m.vb.nodes[y]) {
			next = append(next, likeness{x, y, m.evidence(x, y)})
		}
	}
	as, bs := m.va.in[a], m.vb.in[b]
	for k := range min(len(as), len(bs)) {
		add(as[k].node, bs[k].node)
		if commutes(m.va.nodes[a]) {
			add(as[k].node, bs[len(bs)-1-k].node)
		}
	}
	ua, ub := m.va.users[a], m.vb.users[b]
	for i, u := range ua {
		for j, w := range ub {
			if u.as == w.as && (len(ua)*len(ub) <= 64 || i == j) {
				add(u.node, w.node)
			}
		}
	}
	return next
}

// evidence counts the matched neighbours of two nodes that stand in the same place beside them,
// and, less, what else they have in common.
func (m *matching) evidence(a, b int) int {
	const neighbour = 8 * (2*reach + 2)
	score := 0
	met := func(x, y operand) bool {
		return x.node < 0 && y.node < 0 && x.how == y.how || x.node >= 0 && y.node >= 0 && m.a[m.va.nodes[x.node]] == m.vb.nodes[y.node]
	}
	as, bs := m.va.in[a], m.vb.in[b]
	straight, crossed := 0, 0
	for k := range min(len(as), len(bs)) {
		if met(as[k], bs[k]) {
			straight++
		}
		if met(as[k], bs[len(bs)-1-k]) {
			crossed++
		}
	}
	if commutes(m.va.nodes[a]) {
		straight = max(straight, crossed)
	}
	score += neighbour * straight
	ua, ub := m.va.users[a], m.vb.users[b]
	for _, u := range ua[:min(len(ua), 8)] {
		y := m.a[m.va.nodes[u.node]]
		if y != nil && slices.Contains(ub, use{m.vb.at[y], u.as}) {
			score += neighbour
		}
	}
	x, y := m.va.nodes[a], m.vb.nodes[b]
	if path, met := m.scope[clean(m.va.home[x])]; met && path == clean(m.vb.home[y]) {
		score += neighbour / 2
	}
	return score + m.likeness(a, b)
}

// spread matches neighbours of matched pairs, those with most evidence first, until none is left.
// If it is careful, it leaves out nodes that are alike in what uses them only, and those whose
// scopes are matched with others.
func (m *matching) spread(next []likeness, careful bool) {
	q := queue(next)
	heap.Init(&q)
	for len(q) > 0 {
		l := heap.Pop(&q).(likeness)
		x, y := m.va.nodes[l.a], m.vb.nodes[l.b]
		if !m.free(x, y) {
			continue
		}
		if now := m.evidence(l.a, l.b); now > l.score {
			l.score = now
			heap.Push(&q, l)
			continue
		}
		if careful && (m.apart(l.a, l.b) || !m.fedAlike(l.a, l.b)) {
			continue
		}
		for _, n := range m.match(l.a, l.b) {
			heap.Push(&q, n)
		}
	}
}

// fedAlike reports whether two nodes have a matched operand in common, or operands of the same
// operations, or none.
func (m *matching) fedAlike(a, b int) bool {
	if m.va.down[1][a] == m.vb.down[1][b] {
		return true
	}
	for _, o := range m.va.in[a] {
		if o.node >= 0 && m.a[m.va.nodes[o.node]] != nil && slices.ContainsFunc(m.vb.in[b], func(p operand) bool {
			return p.node >= 0 && m.a[m.va.nodes[o.node]] == m.vb.nodes[p.node]
		}) {
			return true
		}
	}
	return false
}

// queue is a heap of likenesses: the greatest score first, then the order of both sides.
type queue []likeness

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].score, q[i].score), cmp.Compare(q[i].a, q[j].a), cmp.Compare(q[i].b, q[j].b)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(likeness)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// follow matches changes of layout and single numbers where they stand between matched nodes, and
// what is assigned matched values.
func (m *matching) follow() {
	for _, n := range m.va.nodes {
		y := m.a[n]
		if y == nil {
			continue
		}
		as, bs := m.va.operands(n), m.vb.operands(y)
		for k := range min(len(as), len(bs)) {
			root, _ := lie(as[k])
			other, _ := lie(bs[k])
			_, number := singleNumber(root)
			if _, too := singleNumber(other); number && too && sameNumber(root, other) {
				m.pair(root, other)
			}
			if m.a[root] == other {
				m.layouts(as[k], bs[k])
			}
		}
	}
	// Those that no value needs are paired from their operands on.
	for _, n := range m.va.cone {
		if m.a[n] != nil || !isLayout(n) || m.va.backward[n] || m.a[n.In(0)] == nil {
			continue
		}
		for _, y := range m.vb.usersOf()[m.a[n.In(0)]] {
			if m.b[y] == nil && isLayout(y) && m.va.form(n, false) == m.vb.form(y, false) {
				m.pair(n, y)
				break
			}
		}
	}
	// What takes matched values at the end of a step is matched.
	for _, n := range m.va.cone {
		targets := m.vb.updates[m.a[n]]
		for i, x := range m.va.updates[n] {
			if i < len(targets) && m.va.form(x, true) == m.vb.form(targets[i], true) {
				m.pair(x, targets[i])
			}
		}
	}
}

func sameNumber(a, b *graph.Node) bool {
	x, _ := singleNumber(a)
	y, _ := singleNumber(b)
	return x == y
}

// layouts pairs the changes of layout between two matched nodes and two operands, from the nodes on.
func (m *matching) layouts(a, b *graph.Node) {
	chain := func(n *graph.Node) (out []*graph.Node) {
		for ; isLayout(n); n = n.In(0) {
			out = append(out, n)
		}
		slices.Reverse(out)
		return out
	}
	bs := chain(b)
	for _, x := range chain(a) {
		k := slices.IndexFunc(bs, func(y *graph.Node) bool {
			return m.a[x] == y || m.free(x, y) && m.va.form(x, false) == m.vb.form(y, false)
		})
		if k >= 0 {
			m.pair(x, bs[k])
			bs = bs[k+1:]
		}
	}
}
