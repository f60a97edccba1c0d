package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// In memory the rows of a group lie one after the other. Where they are short, a kernel that goes
// through a block of them has few elements side by side at a time. So in the scratch such a block
// lies turned, rows innermost (see [kernel.Rows.Turned]): what the group reads is turned once for
// each tile, by steps of their own, all steps between run along the rows, and what leaves them is
// turned back. Rows of one element lie both ways. A step that only joins arrays turns them back as
// it joins them.
//
// For example, each row of
//
//	postponed "lengths"
//	  group 0: 4096 rows
//	    %1[p=4096 v=3] = Square x[p=4096 v=3]
//	    %2[p=4096] = Sum %1[p=4096 v=3]
//	    %5[p=4096 v=3] = Div x[p=4096 v=3], Broadcast(Reshape(%2))[p=4096 v=3]
//
// is turned as
//
//	staged "lengths"
//	  stage 0: 4096 rows, 1024 at a time
//	    turned(x)[p=4096 v=3] = Turn x[p=4096 v=3]  · ~0…12288, turned
//	    %1[p=4096 v=3] = Square turned(x)[p=4096 v=3]  · ~12288…24576, turned
//	    %2[p=4096] = Sum %1[p=4096 v=3]  · ~24576…28672
//	    columns(%5)[p=4096 v=3] = Div turned(x)[p=4096 v=3], Broadcast(Reshape(%2))[p=4096 v=3]  · ~0…12288, in place, turned
//	    %5[p=4096 v=3] = Turn columns(%5)[p=4096 v=3]

// laid is a member of a group as its stage runs it.
type laid struct {
	member
	turned bool // it computes along the rows
	back   bool // it turns a result back: its own, if it is turned
}

// The longest rows, in elements, that are turned; and from how many elements side by side on there
// is nothing to gain.
const (
	turnedRow = 64
	longInner = 16
)

// layingBuffers is what laying knows of buffers.
type layingBuffers struct {
	at      byBuffer[int]   // the member that makes it
	readers byBuffer[[]int] // the members that read it
	made    byBuffer[int]   // of the range at hand: the turned version of a result
}

// laying decides which members of a group compute along the rows, and makes them do so.
type laying struct {
	*stager
	g      *group
	part   []int  // by member: the range of steps between products
	turned []bool // by member
	*layingBuffers
	packs map[value]int  // of the range at hand: turned versions of views, by what they are of
	whole map[int][]bool // by buffer: which elements of a row are read of it, if turned as a whole
	out   []laid
}

// lay returns the members of a group with those that turn rows among them.
func (s *stager) lay(g *group) []laid {
	l := &laying{stager: s, g: g, layingBuffers: &s.laid}
	plain := make([]laid, len(g.members))
	inPlace := false // its updates keep their order
	for k, m := range g.members {
		plain[k].member = m
		inPlace = inPlace || s.buffers[s.instrs[m.ins].out.buf].home == outside
	}
	if inPlace || s.how.separate || min(s.fitting(g, plain), g.stretch) < s.how.sizes.turn {
		return plain
	}
	l.index()
	if !l.choose() {
		return plain
	}
	for k, m := range g.members {
		if k == 0 || l.part[k] != l.part[k-1] {
			l.packs = map[value]int{}
			l.made.empty(len(l.buffers))
		}
		if l.turned[k] {
			l.turn(k)
		} else {
			l.out = append(l.out, laid{member: m})
		}
	}
	return l.out
}

// index finds who makes and who reads what, and the ranges between products.
func (l *laying) index() {
	n := len(l.g.members)
	l.part, l.turned = make([]int, n), make([]bool, n)
	l.at.empty(len(l.buffers))
	l.readers.empty(len(l.buffers))
	for k, m := range l.g.members {
		ins := &l.instrs[m.ins]
		if k > 0 {
			l.part[k] = l.part[k-1]
			if isProduct(ins.kernel) || isProduct(l.instrs[l.g.members[k-1].ins].kernel) {
				l.part[k]++
			}
		}
		for _, v := range ins.in {
			push(&l.readers, v.buf, k)
		}
		l.at.set(ins.out.buf, k)
	}
}

// choose decides which members compute along the rows, and reports whether that is worth what is
// turned for it. It does not look at which results leave the group, because watching one must not
// change a bit.
func (l *laying) choose() bool {
	n := len(l.g.members)
	can, gain := make([]bool, n), 0
	for k := range l.g.members {
		if can[k] = l.can(k); can[k] {
			l.turned[k] = !l.gathers(k) && l.inner(k) < longInner
		}
	}
	// What stands between two of them is turned too.
	for k := range n {
		if l.gathers(k) { // where nothing needs them turned, its rows are copied one by one
			continue
		}
		for _, v := range l.instrs[l.g.members[k].ins].in {
			from, has := l.at.get(v.buf)
			l.turned[k] = l.turned[k] || can[k] && has && l.part[from] == l.part[k] && l.turned[from]
		}
	}
	for k := n - 1; k >= 0; k-- {
		for _, r := range l.readers.at(l.instrs[l.g.members[k].ins].out.buf) {
			l.turned[k] = l.turned[k] || can[k] && l.part[r] == l.part[k] && l.turned[r]
		}
	}
	cost, seen := 0, map[value]bool{}
	for k, m := range l.g.members {
		ins := &l.instrs[m.ins]
		if !l.turned[k] {
			continue
		}
		out := ins.out.layout.Len() / l.g.rows
		if out > 1 && l.leaves(k) {
			cost += out
		}
		if l.gathers(k) { // either way takes as long
			continue
		}
		elements := out
		for i, v := range ins.in {
			elements = max(elements, l.rowLen(k, i))
			from, has := l.at.get(v.buf)
			if way := l.way(k, i); way == asItLies || has && l.part[from] == l.part[k] && l.turned[from] || seen[v] {
				continue
			}
			seen[v] = true
			cost += l.rowLen(k, i)
		}
		gain += elements * min(4, longInner/l.inner(k)-1) // what has long loops anyway loses a little
	}
	return gain > 2*cost
}

// can reports whether member k can compute along the rows.
func (l *laying) can(k int) bool {
	m := l.g.members[k]
	ins := &l.instrs[m.ins]
	out := ins.out.layout
	if _, ok := kernel.WithRowsLast(ins.kernel, out, layoutsOf(ins.in)); !ok || m.div.Accumulate != nil || out.Len()/l.g.rows > turnedRow {
		return false
	}
	if l.gathers(k) {
		if !l.picksOnce(k) {
			return false
		}
	} else if m.ins < len(l.from.instrs) && l.from.instrs[m.ins].checks {
		return false
	}
	r, ok := m.div.Rows(out, -1, l.g.rows)
	if !ok {
		return false
	}
	if _, ok := r.Apart(1); !ok {
		return false
	}
	plain := out.Len() == l.g.rows // then the rows lie both ways
	for i := range ins.in {
		if l.way(k, i) == inNoWay || l.rowLen(k, i) > turnedRow && !l.gathers(k) {
			return false
		}
		plain = plain && l.way(k, i) == asItLies
	}
	return !plain
}

// gathers reports whether member k looks up rows of a table. Turned, it copies them to columns,
// which saves that they are turned by a step of its own.
func (l *laying) gathers(k int) bool {
	_, ok := l.instrs[l.g.members[k].ins].kernel.(kernel.Gather)
	return ok
}

// picksOnce reports whether each row of member k, a Gather, is picked by one integer from all of
// the table, so that the integers are counted as the rows are.
func (l *laying) picksOnce(k int) bool {
	m := l.g.members[k]
	table, ok := m.div.Rows(l.instrs[m.ins].in[0].layout, 0, l.g.rows)
	return ok && table.Same() && l.rowLen(k, 1) == 1 && l.way(k, 1) == asItLies
}

// inner returns how many elements side by side member k computes at a time if its rows are not
// turned.
func (l *laying) inner(k int) int {
	m, n := l.g.members[k], l.how.sizes.rows
	ins := &l.instrs[m.ins]
	r, _ := m.div.Rows(ins.out.layout, -1, l.g.rows)
	in := make([]kernel.Layout, len(ins.in))
	for i, v := range ins.in {
		r, _ := m.div.Rows(v.layout, i, l.g.rows)
		in[i] = r.Layout(n)
	}
	out := r.Layout(n)
	return max(1, kernel.SideBySide(ins.kernel, kernel.Dense(out.DType, out.Dims[:out.Rank]...), in))
}

// rowLen returns the elements that member k reads of a row of operand i.
func (l *laying) rowLen(k, i int) int {
	v := l.instrs[l.g.members[k].ins].in[i]
	return l.rowOf(l.g, l.g.members[k], i) / v.layout.DType.Size()
}

// leaves reports whether members that need it as it lies in memory read the result of member k.
func (l *laying) leaves(k int) bool {
	b := l.instrs[l.g.members[k].ins].out.buf
	return slices.ContainsFunc(l.readers.at(b), func(r int) bool {
		return l.part[r] != l.part[k] || !l.turned[r] && !l.along(r, b)
	})
}

// joins reports whether member k, which is turned, joins rows that differ, for members that need the
// result as it lies in memory, and for no others.
func (l *laying) joins(k int) bool {
	m := l.g.members[k]
	ins := &l.instrs[m.ins]
	n := ins.out.layout.Len() / l.g.rows
	if c, ok := ins.kernel.(kernel.Concat); !ok || !c.TurnsBack(n, ins.out.layout.DType) {
		return false
	}
	for i, v := range ins.in {
		if r, _ := m.div.Rows(v.layout, i, l.g.rows); r.Same() {
			return false
		}
	}
	b := ins.out.buf
	return !slices.ContainsFunc(l.readers.at(b), func(r int) bool {
		return l.part[r] == l.part[k] && (l.turned[r] || l.along(r, b))
	})
}

// along reports whether member r, which is not turned, can read buffer b turned: sums over the rows
// do, if there is nothing else to a row than an index of an axis.
func (l *laying) along(r, b int) bool {
	m := l.g.members[r]
	ins := &l.instrs[m.ins]
	if _, sum := m.div.Accumulate.(kernel.Reduce); !sum {
		return false
	}
	for i, v := range ins.in {
		if v.buf == b {
			rows, _ := m.div.Rows(v.layout, i, l.g.rows)
			if _, ok := rows.Along(1); !ok {
				return false
			}
		}
	}
	return true
}

// way says how a turned member reads an operand.
type way int

const (
	inNoWay  way = iota
	asItLies     // every row is the same, or neighbouring rows lie side by side
	asRows       // in turned rows of the whole buffer
	asView       // in turned rows of the elements that it reads
)

// way returns how member k would read operand i if it were turned.
func (l *laying) way(k, i int) way {
	m := l.g.members[k]
	ins := &l.instrs[m.ins]
	v := ins.in[i]
	r, ok := m.div.Rows(v.layout, i, l.g.rows)
	if !ok {
		return inNoWay
	}
	apart, ok := r.Apart(2)
	stride := apart.Strides[apart.Rank-1]
	lo, hi := r.Span()
	uniform, even := r.Uniform()
	switch {
	case !ok || stride < 0:
		return inNoWay
	case r.Same() || stride == 1:
		return asItLies
	case even && uniform*l.g.rows*v.layout.DType.Size() == l.buffers[v.buf].bytes && lo >= 0 && hi <= uniform:
		if l.at.has(v.buf) || l.all(v.buf) {
			return asRows
		}
	}
	if _, _, ok := l.view(m, i); ok {
		return asView
	}
	return inNoWay
}

// all reports whether the members read every element of a buffer's rows.
func (l *laying) all(b int) bool {
	read, known := l.whole[b]
	if !known {
		if l.whole == nil {
			l.whole = map[int][]bool{}
		}
		for _, k := range l.readers.at(b) {
			m := l.g.members[k]
			for i, v := range l.instrs[m.ins].in {
				n := l.buffers[b].bytes / v.layout.DType.Size() / l.g.rows
				r, ok := m.div.Rows(v.layout, i, l.g.rows)
				lo, hi := r.Span()
				if v.buf != b || !ok || n > 4*turnedRow || lo < 0 || hi > n {
					continue
				}
				if read == nil {
					read = make([]bool, n)
				}
				mark(read, r.Layout(1), 0)
			}
		}
		l.whole[b] = read
	}
	return len(read) > 0 && !slices.Contains(read, false)
}

// mark sets the elements that the axes of a layout from the given one on reach.
func mark(read []bool, l kernel.Layout, axis int) {
	if axis == l.Rank {
		read[l.Offset] = true
		return
	}
	for range l.Dims[axis] {
		mark(read, l, axis+1)
		if l.Strides[axis] == 0 {
			return
		}
		l.Offset += l.Strides[axis]
	}
}

// view returns the elements that a member reads of operand i, without repetitions, and the layout in
// which it reads them where they lie densely. ok is false if they have other rows then.
func (l *laying) view(m member, i int) (once, dense kernel.Layout, ok bool) {
	v := l.instrs[m.ins].in[i]
	once = v.layout
	for a := range once.Rank {
		if once.Strides[a] == 0 {
			once.Dims[a] = 1
		}
	}
	dense = kernel.Dense(once.DType, once.Dims[:once.Rank]...)
	for a := range once.Rank {
		if once.Strides[a] == 0 {
			dense.Dims[a], dense.Strides[a] = v.layout.Dims[a], 0
		}
	}
	r, ok := m.div.Rows(dense, i, l.g.rows)
	stride, even := r.Uniform()
	if !ok || !even || stride*l.g.rows != once.Len() {
		return once, dense, false
	}
	d := kernel.Turn{}.Divide(once, []kernel.Layout{once})[0]
	from, ok := d.Rows(once, 0, l.g.rows)
	if _, fits := from.Apart(1); !ok || !fits {
		return once, dense, false
	}
	lo, hi := r.Span()
	return once, dense, lo >= 0 && hi <= stride
}
