package viz

// manyRounds limits how often the weakest pair of a circle is dissolved before all are that are
// not the same.
const manyRounds = 32

// order dissolves pairs until the two flows, with the nodes of each pair as one, have no circle,
// so that there is one drawing for both. What two nodes that are the same depend on is the same,
// so that there are others in each circle; of these the pair with least evidence goes first.
func (m *matching) order() {
	for round := 0; ; round++ {
		circles := m.circles()
		if len(circles) == 0 {
			return
		}
		for _, circle := range circles {
			var loose []int
			for _, a := range circle {
				if !m.exact[m.va.nodes[a]] {
					loose = append(loose, a)
				}
			}
			weakest, least := 0, 0
			for i, a := range loose {
				if e := m.evidence(a, m.vb.at[m.a[m.va.nodes[a]]]); i == 0 || e < least {
					weakest, least = i, e
				}
			}
			if round < manyRounds {
				loose = loose[weakest : weakest+1]
			}
			for _, a := range loose {
				m.undo(m.va.nodes[a : a+1])
			}
		}
	}
}

// circles returns the strongly connected components of the two flows joined, as far as they have
// more than one node, with the pairs in each, by place in A. (Tarjan, Depth-first search and
// linear graph algorithms, 1972.)
func (m *matching) circles() (out [][]int) {
	count := len(m.va.nodes)
	joined := make([]int, len(m.vb.nodes)) // the number of each node of B
	for i, n := range m.vb.nodes {
		if x := m.b[n]; x != nil {
			joined[i] = m.va.at[x]
		} else {
			joined[i] = count
			count++
		}
	}
	next := make([][]int, count)
	for i, users := range m.va.users {
		for _, u := range users {
			next[i] = append(next[i], u.node)
		}
	}
	for i, users := range m.vb.users {
		for _, u := range users {
			next[joined[i]] = append(next[joined[i]], joined[u.node])
		}
	}
	index, low := make([]int, count), make([]int, count) // from 1 on; 0 for nodes not met
	open := make([]bool, count)
	var stack []int
	met := 0
	var visit func(n int)
	visit = func(n int) {
		met++
		index[n], low[n], open[n] = met, met, true
		stack = append(stack, n)
		for _, x := range next[n] {
			if index[x] == 0 {
				visit(x)
				low[n] = min(low[n], low[x])
			} else if open[x] {
				low[n] = min(low[n], index[x])
			}
		}
		if low[n] < index[n] {
			return
		}
		var pairs []int
		for size := 1; ; size++ {
			x := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			open[x] = false
			if x < len(m.va.nodes) && m.a[m.va.nodes[x]] != nil {
				pairs = append(pairs, x)
			}
			if x == n {
				if size > 1 {
					out = append(out, pairs)
				}
				return
			}
		}
	}
	for n := range count {
		if index[n] == 0 {
			visit(n)
		}
	}
	return out
}
