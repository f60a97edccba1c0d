package tape

import "github.com/tapestry-ml/tapestry/internal/kernel"

// A tile computes in the scratch for some time, and in between it reads rows of arrays or writes
// those of results, some kilobytes at once. Where these lie in memory, and not in a cache, all that
// reads or writes them waits. So each call before has a few of their cache lines fetched: they
// arrive while there is something else to do. What is read early in a tile is fetched by all calls
// of the tile before, into the L2 cache. What is written early is not: it would come into the L1
// cache, which the tile before fills, and drive out what that computes with.

// Arrays of at least aheadBytes are fetched: smaller ones are mostly in the cache. The calls before
// fetch for their own tile if they are aheadCalls at least: fewer would have too many lines fetched
// at once. For the next tile at most aheadTile bytes are fetched of an array, which the cache keeps
// beside what this tile needs. A call has at least aheadPart bytes fetched, if there are so many.
const (
	aheadBytes = 256 << 10
	aheadCalls = 8
	aheadTile  = 64 << 10
	aheadPart  = 512
)

// ahead is a part of some rows of an array that a later call of the tile, or one of the next tile,
// reads or writes.
type ahead struct {
	buf, stride int
	from, n     int // bytes, from the first of the rows on
	rows        int // those of the tiles up to that call, which there may be too few of
	toWrite     bool
	during      bool // the call, of a product, fetches it while it computes
}

// fetchAhead divides what the calls of stage s read and write of the rows of large arrays among the
// calls that come before, in the same tile or in the one before.
func (p *Program) fetchAhead(s *stage) {
	if !kernel.Fetches() {
		return
	}
	for i, t := range s.tilings {
		if i > 0 {
			p.fetchUpcoming(s, s.tilings[i-1])
		}
		met := map[int]bool{} // buffers
		for k := t.from; k < t.to; k++ {
			for i := range s.calls[k].moves {
				m := &s.calls[k].moves[i]
				if met[m.buf] || !p.advances(s, k, m) {
					continue
				}
				met[m.buf] = true
				rows := ahead{buf: m.buf, stride: m.stride, toWrite: m.operand < 0}
				if k >= t.from+aheadCalls {
					divideAhead(s.calls[t.from:k], &s.calls[k], rows, 0)
				} else if !rows.toWrite && t.rows < s.rows && t.rows*m.stride <= aheadTile && !isProduct(p.instrs[s.steps[k].ins].kernel) {
					divideAhead(s.calls[t.from:t.to], &s.calls[k], rows, 1)
				}
			}
		}
	}
}

// A product has at most upcomingBytes fetched, of one array: its own result lies in the L2 cache
// beside them.
const upcomingBytes = 384 << 10

// fetchUpcoming has a product that makes a block of rows fetch those rows of the first large array
// that is read or written before the next product.
func (p *Program) fetchUpcoming(s *stage, product tiling) {
	if product.to != product.from+1 || !kernel.FetchesUpcoming(p.instrs[s.steps[product.from].ins].kernel) {
		return
	}
	c := &s.calls[product.from]
	for k := product.to; k < len(s.calls) && !isProduct(p.instrs[s.steps[k].ins].kernel); k++ {
		for i := range s.calls[k].moves {
			m := &s.calls[k].moves[i]
			if !p.advances(s, k, m) || s.block*m.stride > upcomingBytes {
				continue
			}
			for n := range c.bound {
				b := &c.bound[n]
				b.ahead = append(b.ahead, ahead{buf: m.buf, stride: m.stride, n: b.rows * m.stride, during: true})
			}
			return
		}
	}
}

// advances reports whether what call k of a stage takes of an array that moves is large, and each of
// its rows begins where the one before it ends.
func (p *Program) advances(s *stage, k int, m *move) bool {
	ins := &p.instrs[s.steps[k].ins]
	l := ins.out.layout
	if m.operand >= 0 {
		l = ins.in[m.operand].layout
	}
	for a := range l.Rank {
		if l.Strides[a] == 0 {
			l.Dims[a] = 1
		}
	}
	return m.rows == nil && m.part == 0 && !m.local && p.buffers[m.buf].bytes >= aheadBytes && l.Len()*l.DType.Size() == s.rows*m.stride
}

// divideAhead divides the rows that a call takes, so many tiles later, among calls before it.
func divideAhead(before []call, c *call, rows ahead, tiles int) {
	for n := range c.bound {
		bytes := c.bound[n].rows * rows.stride
		rows.rows = (tiles + 1) * c.bound[n].rows
		parts := min(len(before), max(1, bytes/aheadPart))
		for i := range parts {
			part := rows
			part.from = tiles*bytes + i*bytes/parts
			part.n = tiles*bytes + (i+1)*bytes/parts - part.from
			b := &before[i*len(before)/parts].bound[n]
			b.ahead = append(b.ahead, part)
		}
	}
}

// fetch has the processor fetch what later calls take of the rows from the given one on, as far as
// there are so many rows up to the end.
func (w *worker) fetch(parts []ahead, row, end int) {
	for i := range parts {
		a := &parts[i]
		if row+a.rows > end {
			continue
		}
		if a.during {
			w.Upcoming = w.mem[a.buf].From(row*a.stride).Slice(0, a.n)
			continue
		}
		kernel.Fetch(w.mem[a.buf], row*a.stride+a.from, a.n, a.toWrite)
	}
}
