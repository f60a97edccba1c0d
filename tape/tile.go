package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A block of rows that is large enough for a product is often too large for the L1 cache.
// Neighbouring steps of a block that are no products therefore run on tiles, a few rows of the
// block at a time: all of them on the first tile, then on the next. A tile has as many rows as fit
// into the cache with all that is alive at once while they are computed.

// tiling is a range of steps, [from,to), that go through a block so many rows at a time.
type tiling struct {
	from, to, rows int
	lengths        []length // once the steps are bound
}

// tile cuts the members of a group into ranges.
func (s *stager) tile(made *stage, g *group, members []laid) (tilings []tiling) {
	for from := 0; from < len(members); {
		to, rows := from+1, made.block
		if !wantsBlock(s.instrs[members[from].ins].kernel) {
			for to < len(members) && !wantsBlock(s.instrs[members[to].ins].kernel) {
				to++
			}
			rows = min(rows, s.fitting(g, members[from:to]))
		}
		tilings = append(tilings, tiling{from: from, to: to, rows: rows})
		from = to
	}
	return tilings
}

// wantsBlock reports whether a kernel runs on whole blocks: a product, and what goes through all of
// some integers each time.
func wantsBlock(k kernel.Kernel) bool {
	_, scatters := k.(kernel.ScatterByRows)
	return scatters || isProduct(k)
}

// fitting returns how many rows of some members of a group fit into the cache, at least 1.
func (s *stager) fitting(g *group, members []laid) int {
	bytes := s.alive(g, members)
	rows := max(1, s.how.sizes.live/bytes)
	if row := g.wide.longest; 0 < row && row <= numberBytes && s.streams(members) {
		rows = min(rows, pieceBytes/row)
	}
	if slices.ContainsFunc(members, func(m laid) bool { return m.turned }) {
		rows = max(rows, min(s.how.sizes.turned/bytes, longRows))
	}
	if alignable(members) && rows >= alignedRows {
		rows -= rows % lineRows
	}
	return rows
}

// pieceBytes is the piece of an array that a tile takes where a row is a number and several large
// arrays are read: they come from memory, and in short pieces, by turns, they arrive side by side.
const pieceBytes = 4 << 10

// streams reports whether some members of a group read several large arrays that it does not make,
// and add nothing up: the end of a block decides how sums are rounded.
func (s *stager) streams(members []laid) bool {
	last, several := -1, false
	for _, m := range members {
		if m.div.Accumulate != nil {
			return false
		}
		for _, v := range s.instrs[m.ins].in {
			if b := &s.buffers[v.buf]; b.home != inScratch && b.bytes >= apartLimit {
				several = several || last >= 0 && v.buf != last
				last = v.buf
			}
		}
	}
	return several
}

// longRows is the number of turned rows from which on more of them make no loop faster. A multiple
// of lineRows of them begins with a cache line in each column, so that no vector lies in two lines;
// alignedRows is the number from which on blocks are rounded to it.
const (
	longRows    = 512
	lineRows    = 16
	alignedRows = 4 * lineRows
)

// alignable reports whether some members of a group compute along the rows, and none adds rows up:
// sums depend on where blocks end.
func alignable(members []laid) bool {
	sums := slices.ContainsFunc(members, func(m laid) bool { return m.div.Accumulate != nil })
	return !sums && slices.ContainsFunc(members, func(m laid) bool { return m.turned })
}

// alive returns the most bytes of a row that are alive at once while some members of a group compute
// it, at least 1: results from the member that makes them to the last that reads them, and
// arrays of other groups from the first that reads them, however many do. A result that may take
// the place of an operand that ends there needs none of its own. Where a value is watched, so that
// it has to be an array, it counts as if it were not: watching changes no bit.
func (s *stager) alive(g *group, members []laid) int {
	spans := s.spans[:0]
	if n := len(s.buffers) - len(s.span); n > 0 {
		s.span = append(s.span, make([]int, n)...)
	}
	touch := func(k, buf int) *presence {
		if s.span[buf] == 0 {
			if len(spans) < cap(spans) {
				spans = spans[:len(spans)+1] // with the memory of its last use
			} else {
				spans = append(spans, presence{})
			}
			x := &spans[len(spans)-1]
			*x = presence{buf: buf, first: k, read: x.read[:0]}
			s.span[buf] = len(spans)
		}
		x := &spans[s.span[buf]-1]
		x.last = k
		return x
	}
	for k, m := range members {
		if m.back && !m.turned {
			continue
		}
		ins := &s.instrs[m.ins]
		for i, v := range ins.in {
			if x := touch(k, v.buf); !x.whole && !slices.Contains(x.read, v.layout) {
				x.read = append(x.read, v.layout)
				if n := s.rowOf(g, m.member, i); n > 0 {
					x.bytes = min(x.bytes+n, max(x.bytes, s.buffers[v.buf].bytes/g.rows))
				}
			}
		}
		if x := touch(k, ins.out.buf); m.div.Accumulate == nil {
			x.bytes, x.whole = s.buffers[ins.out.buf].bytes/g.rows, true
		}
	}
	grows := make([]int, len(members)+1) // by member: the bytes that begin there, less those that have ended
	for k, m := range members {
		if m.back && !m.turned {
			continue
		}
		ins := &s.instrs[m.ins]
		out := &spans[s.span[ins.out.buf]-1]
		if out.first < k || out.bytes == 0 {
			continue
		}
		for i, v := range ins.in {
			if x := &spans[s.span[v.buf]-1]; x.whole && x.last == k && x.bytes == out.bytes && mayShare(ins, i) {
				x.last, out.first = k-1, k
				break
			}
		}
	}
	for i := range spans {
		x := &spans[i]
		if x.first <= x.last {
			grows[x.first] += x.bytes
			grows[x.last+1] -= x.bytes
		}
		s.span[x.buf] = 0
	}
	s.spans = spans
	most, now := 1, 0
	for _, n := range grows {
		now += n
		most = max(most, now)
	}
	return most
}

// presence is the members of a group, from the first to the last, that need the rows of a buffer, and
// how many bytes of a row.
type presence struct {
	buf, first, last, bytes int
	read                    []kernel.Layout // through which it is read
	whole                   bool            // it is made there, so all of a row is touched
}

// rowOf returns the bytes that a member reads of a row of operand i, 0 if every row is the same.
func (s *stager) rowOf(g *group, m member, i int) int {
	ins := &s.instrs[m.ins]
	v := ins.in[i]
	r, ok := m.div.Rows(v.layout, i, g.rows)
	if !ok || r.Same() {
		return 0
	}
	if p, ok := ins.kernel.(picker); ok {
		return p.Reads(ins.out.layout, layoutsOf(ins.in), i) / g.rows * v.layout.DType.Size()
	}
	return touched(r.Layout(1))
}

// firstLast are the first and the last of some members or steps.
type firstLast struct{ first, last int }

// hold decides how many rows of a result in scratch each worker holds: a tile if only the range of
// steps that makes it reads it, otherwise a block.
func (s *stager) hold(made *stage, members []laid) {
	readers := &s.readBy
	readers.empty(len(s.buffers))
	for j, m := range members {
		for _, v := range s.instrs[m.ins].in {
			if r, read := readers.get(v.buf); read {
				readers.set(v.buf, firstLast{r.first, j})
			} else {
				readers.set(v.buf, firstLast{j, j})
			}
		}
	}
	for _, t := range made.tilings {
		for k := t.from; k < t.to; k++ {
			b := s.instrs[members[k].ins].out.buf
			if s.buffers[b].home != inScratch {
				continue
			}
			rows := t.rows
			if r, read := readers.get(b); read && (r.first < t.from || r.last >= t.to) {
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
