package figure

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// rowUnits groups nodes that share a row: unit[i] is the group of node i.
type rowUnits struct {
	unit []int
	size int
}

// joinRows makes one unit of each node and those that have it as their Row.
func joinRows(f *Figure, index map[string]int) rowUnits {
	sets := newPartition(len(f.Nodes))
	for i, n := range f.Nodes {
		if n.Row != "" {
			sets.join(i, index[n.Row])
		}
	}
	u := rowUnits{unit: make([]int, len(f.Nodes))}
	number := map[int]int{}
	for i := range f.Nodes {
		root := sets.find(i)
		if _, ok := number[root]; !ok {
			number[root] = u.size
			u.size++
		}
		u.unit[i] = number[root]
	}
	return u
}

// arcs returns what edges require of rows, "from is above to": forward edges strictly, and edges
// of the gradient column, which is read upwards, as a wish. Edges between the columns require
// nothing.
func (u rowUnits) arcs(f *Figure, index map[string]int) (forward, upward []arc) {
	for _, e := range f.Edges {
		from, to := index[e.From], index[e.To]
		if f.Nodes[from].Backward != f.Nodes[to].Backward || u.unit[from] == u.unit[to] {
			continue
		}
		switch e.Kind {
		case Forward:
			forward = append(forward, arc{u.unit[from], u.unit[to]})
		case Grad, Assign:
			upward = append(upward, arc{u.unit[to], u.unit[from]})
		}
	}
	return forward, upward
}

// assignRows returns the row of every node and the number of rows. Rows are as few as the edges
// and the stacking of modules allow; then a node that is used once, or feeds only one use, sinks
// next to that use, and a loss goes to the last row of the values.
func assignRows(f *Figure, index map[string]int) (row []int, rows int) {
	u := joinRows(f, index)
	forward, upward := u.arcs(f, index)
	// Rows fixed by the caller can contradict upward edges. Edges on a cycle give way, the others
	// hold.
	part := components(u.size, slices.Concat(forward, upward))
	steps := strict(forward)
	for _, a := range upward {
		if part[a.from] != part[a.to] {
			steps = append(steps, step{a, 1})
		}
	}
	steps, size := u.stack(f, index, steps)
	s := newSlack(u.size, size, steps)
	last := 0 // row that holds a value
	for i, n := range f.Nodes {
		if !n.Backward {
			last = max(last, s.row[u.unit[i]])
		}
	}
	for i, n := range f.Nodes {
		if k := u.unit[i]; n.Role == Loss && s.uses[k] == 0 {
			s.row[k], s.pinned[k] = last, true
		}
	}
	earliest := slices.Clone(s.row)
	for range 4 {
		s.settle()
	}
	u.enterTogether(f, index, s, earliest)
	used := slices.Clone(s.row[:u.size])
	slices.Sort(used)
	used = slices.Compact(used)
	row = make([]int, len(f.Nodes))
	for i := range row {
		row[i], _ = slices.BinarySearch(used, s.row[u.unit[i]])
	}
	return row, len(used)
}

// enterTogether raises the carries of a loop to one row, in which a step begins.
func (u rowUnits) enterTogether(f *Figure, index map[string]int, s *slack, earliest []int) {
	carried := map[int]string{} // by unit, the module
	top := map[string]int{}
	for _, e := range f.Edges {
		n := &f.Nodes[index[e.To]]
		if e.Kind != Carry || n.Backward {
			continue
		}
		k := u.unit[index[e.To]]
		if row, met := top[n.Module]; !met || s.row[k] < row {
			top[n.Module] = s.row[k]
		}
		carried[k] = n.Module
	}
	for k, module := range carried {
		s.row[k] = max(top[module], earliest[k])
	}
}

// A step requires that to is at least room rows below from.
type step struct {
	arc
	room int
}

func strict(arcs []arc) []step {
	steps := make([]step, len(arcs))
	for i, a := range arcs {
		steps[i] = step{a, 1}
	}
	return steps
}

// sideBySide is the number of rows that modules must save to stand beside a sibling that they
// feed. Fewer are not worth the width.
const sideBySide = 6

// stack adds steps that put a module entirely above a sibling, module or node, that it feeds, and
// a node above a sibling module that it feeds, so that a chain of modules is a column and not a
// staircase. Each module gets two more units, its first and last row. Siblings that feed each
// other in a cycle may be side by side, and so may modules that both have much to compute before
// one feeds the other, such as an encoder and its decoder. It returns the steps and the number of
// units.
func (u rowUnits) stack(f *Figure, index map[string]int, steps []step) ([]step, int) {
	type key struct {
		path     string
		backward bool
	}
	size := u.size
	first := map[key]int{} // the last row is the next unit
	for i, n := range f.Nodes {
		for path := range modulePaths(n.Module) {
			k, ok := first[key{path, n.Backward}]
			if !ok {
				k = size
				first[key{path, n.Backward}] = k
				size += 2
			}
			steps = append(steps, step{arc{k, u.unit[i]}, 0}, step{arc{u.unit[i], k + 1}, 0})
		}
	}
	rows := u.computing(f, index, newSlack(u.size, size, slices.Clone(steps)).row)
	var above []arc
	for _, e := range f.Edges {
		from, to := index[e.From], index[e.To]
		if f.Nodes[from].Backward != f.Nodes[to].Backward || e.Kind == Saved || e.Kind == Carry {
			continue
		}
		if e.Kind != Forward {
			from, to = to, from
		}
		a, b := &f.Nodes[from], &f.Nodes[to]
		upper, lower := u.unit[from], u.unit[to]
		p, q := partingModules(a.Module, b.Module)
		if p != "" {
			upper = first[key{p, a.Backward}] + 1
		}
		if q != "" {
			lower = first[key{q, b.Backward}]
		}
		if x, y := rows[p], rows[q]; (p != "" || q != "") && !(x.met && y.met && x.last-y.first+1 >= sideBySide) {
			above = append(above, arc{upper, lower})
		}
	}
	all := make([]arc, 0, len(steps)+len(above))
	for _, s := range steps {
		all = append(all, s.arc)
	}
	part := components(size, append(all, above...))
	for _, a := range above {
		if part[a.from] != part[a.to] {
			steps = append(steps, step{a, 1})
		}
	}
	return steps, size
}

// span is a range of rows.
type span struct {
	first, last int
	met         bool
}

// computing returns, by path, the rows in which modules compute values from others. Their leaves
// can be in any row above.
func (u rowUnits) computing(f *Figure, index map[string]int, row []int) map[string]span {
	out := map[string]span{}
	for _, e := range f.Edges {
		n := &f.Nodes[index[e.To]]
		if e.Kind != Forward || n.Backward {
			continue
		}
		r := row[u.unit[index[e.To]]]
		for path := range modulePaths(n.Module) {
			s, met := out[path]
			if !met {
				s = span{r, r, true}
			}
			out[path] = span{min(s.first, r), max(s.last, r), true}
		}
	}
	return out
}

// modulePaths yields a module path and those around it, outer first.
func modulePaths(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, c := range path {
			if c == '/' && !yield(path[:i]) {
				return
			}
		}
		if path != "" {
			yield(path)
		}
	}
}

// partingModules returns the siblings at which two module paths part; one is empty if its path
// ends there.
func partingModules(p, q string) (string, string) {
	next, stop := iter.Pull(modulePaths(q))
	defer stop()
	for a := range modulePaths(p) {
		if b, ok := next(); !ok || a != b {
			return a, b
		}
	}
	b, _ := next()
	return "", b
}

// slack has rows under steps, and moves units within the room that the steps leave. Units from
// real on are bounds of modules, which are in nobody's way.
type slack struct {
	real   int
	below  [][]step
	order  []int // topological
	row    []int
	uses   []int // number of real units directly below
	feeds  []int // number of real units directly above
	pinned []bool
	free   []bool // the unit and all above it have no other use
}

func newSlack(real, n int, steps []step) *slack {
	slices.SortFunc(steps, func(a, b step) int {
		return cmp.Or(a.from-b.from, a.to-b.to, b.room-a.room)
	})
	steps = slices.CompactFunc(steps, func(a, b step) bool { return a.arc == b.arc })
	s := &slack{
		real: real, below: make([][]step, n), row: make([]int, n), uses: make([]int, n), feeds: make([]int, n),
		pinned: make([]bool, n), free: make([]bool, n),
	}
	missing := make([]int, n)
	for _, t := range steps {
		s.below[t.from] = append(s.below[t.from], t)
		missing[t.to]++
		if t.from < real && t.to < real {
			s.uses[t.from]++
			s.feeds[t.to]++
		}
	}
	for i := range n {
		s.free[i] = true
		if missing[i] == 0 {
			s.order = append(s.order, i)
		}
	}
	for i := 0; i < len(s.order); i++ {
		k := s.order[i]
		for _, t := range s.below[k] {
			if k < real && t.to < real && (!s.free[k] || s.uses[k] > 1) {
				s.free[t.to] = false
			}
			s.row[t.to] = max(s.row[t.to], s.row[k]+t.room)
			if missing[t.to]--; missing[t.to] == 0 {
				s.order = append(s.order, t.to)
			}
		}
	}
	return s
}

// settle moves each unit down if that shortens edges in total, and in any case if it has no other
// use.
func (s *slack) settle() {
	for _, k := range slices.Backward(s.order) {
		lowest := math.MaxInt
		for _, t := range s.below[k] {
			lowest = min(lowest, s.row[t.to]-t.room)
		}
		switch {
		case k >= s.real:
			s.row[k] = lowest
		case s.pinned[k] || s.uses[k] == 0:
		case s.free[k] || s.uses[k] >= s.feeds[k]:
			s.row[k] = max(s.row[k], lowest)
		}
	}
}

// components numbers the strongly connected components of n nodes (Tarjan, 1972, without
// recursion, since chains can be long).
func components(n int, arcs []arc) []int {
	out := make([][]int, n)
	for _, a := range arcs {
		out[a.from] = append(out[a.from], a.to)
	}
	part, low, num, next := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	var stack, path []int
	count, parts := 0, 0
	for start := range n {
		if num[start] != 0 {
			continue
		}
		path = append(path, start)
		for len(path) > 0 {
			v := path[len(path)-1]
			if num[v] == 0 {
				count++
				num[v], low[v] = count, count
				stack = append(stack, v)
			}
			if next[v] < len(out[v]) {
				w := out[v][next[v]]
				next[v]++
				if num[w] == 0 {
					path = append(path, w)
				} else if part[w] == 0 {
					low[v] = min(low[v], num[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				p := path[len(path)-1]
				low[p] = min(low[p], low[v])
			}
			if low[v] != num[v] {
				continue
			}
			parts++
			for done := false; !done; {
				w := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				part[w] = parts
				done = w == v
			}
		}
	}
	return part
}

// A partition is a union-find structure.
type partition []int

func newPartition(n int) partition {
	p := make(partition, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func (p partition) find(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

// join merges the sets of i and j under the representative of j.
func (p partition) join(i, j int) { p[p.find(i)] = p.find(j) }
