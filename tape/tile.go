package tape

import "slices"

// A block of rows that is large enough for a product is often too large for the L1 cache. Neighbouring steps of a block that are
// no products therefore run on tiles, a few rows of the block at a time: all of them on the first tile, then on the next.

// tiled is a run of steps, [from,to), that go through a block so many rows at a time.
type tiled struct{ from, to, rows int }

// tiles cuts the members of a group into runs.
func (p *Program) tiles(s *stage, g *group) (runs []tiled) {
	for from := 0; from < len(g.members); {
		to := from + 1
		widest := p.rowOf(g, from)
		if !isProduct(p.instrs[g.members[from].ins].kernel) {
			for ; to < len(g.members) && !isProduct(p.instrs[g.members[to].ins].kernel); to++ {
				widest = max(widest, p.rowOf(g, to))
			}
			rows := min(s.block, max(1, p.sizes.tile/widest))
			if s.block*widest <= p.sizes.product {
				rows = s.block // not worth a cut
			}
			runs = append(runs, tiled{from, to, rows})
		} else {
			runs = append(runs, tiled{from, to, s.block})
		}
		from = to
	}
	return runs
}

// rowOf is the size in bytes of a row of the longest array that a member reads or writes row by row.
func (p *Program) rowOf(g *group, k int) int {
	m := g.members[k]
	ins := &p.instrs[m.ins]
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

// settle decides what each worker holds of the results that stay in scratch: a tile if the run that makes it is all that reads it,
// otherwise a block.
func (p *Program) settle(s *stage, g *group) {
	first, last := map[int]int{}, map[int]int{} // members that read a buffer
	for j, m := range g.members {
		for _, v := range p.instrs[m.ins].in {
			if _, seen := first[v.buf]; !seen {
				first[v.buf] = j
			}
			last[v.buf] = j
		}
	}
	for _, r := range s.runs {
		for k := r.from; k < r.to; k++ {
			b := p.instrs[g.members[k].ins].out.buf
			if !p.buffers[b].scratch {
				continue
			}
			rows := r.rows
			if _, read := first[b]; read && (first[b] < r.from || last[b] >= r.to) {
				rows = s.block
			}
			p.buffers[b].rows = rows
			p.buffers[b].bytes = p.buffers[b].bytes / s.rows * rows
		}
	}
}

// spans lists the numbers of rows that a run meets in whole blocks and in the last block of a stretch.
func (s *stage) spans(r tiled) (n []int) {
	for _, block := range []int{s.block, s.limit % s.block} {
		for _, rows := range []int{min(r.rows, block), block % r.rows} {
			if rows > 0 && !slices.Contains(n, rows) {
				n = append(n, rows)
			}
		}
	}
	return n
}
