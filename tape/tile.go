package tape

import "slices"

// A block of rows that is large enough for a product is often too large for the L1 cache.
// Neighbouring steps of a block that are no products therefore run on tiles, a few rows of the
// block at a time: all of them on the first tile, then on the next.

// tiling is a range of steps, [from,to), that go through a block so many rows at a time.
type tiling struct{ from, to, rows int }

// tile cuts the members of a group into ranges.
func (s *stager) tile(made *stage, g *group) (tilings []tiling) {
	for from := 0; from < len(g.members); {
		to := from + 1
		widest := s.rowOf(g, from)
		if !isProduct(s.instrs[g.members[from].ins].kernel) {
			for ; to < len(g.members) && !isProduct(s.instrs[g.members[to].ins].kernel); to++ {
				widest = max(widest, s.rowOf(g, to))
			}
			rows := min(made.block, max(1, s.how.sizes.tile/widest))
			if made.block*widest <= s.how.sizes.product {
				rows = made.block // not worth a cut
			}
			tilings = append(tilings, tiling{from, to, rows})
		} else {
			tilings = append(tilings, tiling{from, to, made.block})
		}
		from = to
	}
	return tilings
}

// rowOf returns the bytes of a row of the longest array that a member reads or writes row by row.
func (s *stager) rowOf(g *group, k int) int {
	m := g.members[k]
	ins := &s.instrs[m.ins]
	longest := 1
	if l := ins.out.layout; m.div.Accumulate == nil {
		longest = l.Len() * l.DType.Size() / g.rows
	}
	for i, v := range ins.in {
		if r, ok := m.div.Rows(v.layout, i, g.rows); ok && !r.Same() {
			longest = max(longest, r.Layout(1).Len()*v.layout.DType.Size())
		}
	}
	return longest
}

// hold decides how many rows of a result in scratch each worker holds: a tile if only the range of
// steps that makes it reads it, otherwise a block.
func (s *stager) hold(made *stage, g *group) {
	first, last := map[int]int{}, map[int]int{} // members that read a buffer
	for j, m := range g.members {
		for _, v := range s.instrs[m.ins].in {
			if _, seen := first[v.buf]; !seen {
				first[v.buf] = j
			}
			last[v.buf] = j
		}
	}
	for _, t := range made.tilings {
		for k := t.from; k < t.to; k++ {
			b := s.instrs[g.members[k].ins].out.buf
			if s.buffers[b].home != inScratch {
				continue
			}
			rows := t.rows
			if _, read := first[b]; read && (first[b] < t.from || last[b] >= t.to) {
				rows = made.block
			}
			s.buffers[b].rows = rows
			s.buffers[b].bytes = s.buffers[b].bytes / made.rows * rows
		}
	}
}

// lengths lists the numbers of rows that a range of steps meets, in whole blocks and in the last
// block of a stretch.
func (s *stage) lengths(t tiling) (n []int) {
	for _, block := range []int{s.block, s.stretch % s.block} {
		for _, rows := range []int{min(t.rows, block), block % t.rows} {
			if rows > 0 && !slices.Contains(n, rows) {
				n = append(n, rows)
			}
		}
	}
	return n
}
