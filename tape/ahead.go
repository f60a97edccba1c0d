package tape

import "github.com/tapestry-ml/tapestry/internal/kernel"

// A tile computes in the scratch for some time, and in between it reads rows of arrays or writes
// those of results, some kilobytes at once. Where these lie in memory, and not in a cache, all that
// reads or writes them waits. So each call before has a few of their cache lines fetched: they
// arrive while there is something else to do.

// Arrays of at least aheadBytes are fetched, where at least aheadCalls calls come before: smaller
// ones are mostly in the cache, and fewer calls would have too many lines fetched at once. A call
// has at least aheadPart bytes fetched, if there are so many.
const (
	aheadBytes = 256 << 10
	aheadCalls = 8
	aheadPart  = 512
)

// ahead is a part of some rows of an array that a later call of the tile reads or writes.
type ahead struct {
	buf, stride int
	from, n     int // bytes, from the first of the rows on
	toWrite     bool
}

// fetchAhead divides what the calls of stage s read and write of the rows of large arrays among the
// calls that come before.
func (p *Program) fetchAhead(s *stage) {
	if !kernel.Fetches() {
		return
	}
	for _, t := range s.tilings {
		met := map[int]bool{} // buffers
		for k := t.from; k < t.to; k++ {
			for i := range s.calls[k].moves {
				m := &s.calls[k].moves[i]
				if met[m.buf] || !p.advances(s, k, m) {
					continue
				}
				met[m.buf] = true
				if k >= t.from+aheadCalls {
					divideAhead(s.calls[t.from:k], &s.calls[k], ahead{buf: m.buf, stride: m.stride, toWrite: m.operand < 0})
				}
			}
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

// divideAhead divides the rows that a call takes among those before it.
func divideAhead(before []call, c *call, rows ahead) {
	for n := range c.bound {
		bytes := c.bound[n].rows * rows.stride
		parts := min(len(before), max(1, bytes/aheadPart))
		for i := range parts {
			part := rows
			part.from = i * bytes / parts
			part.n = (i+1)*bytes/parts - part.from
			b := &before[i*len(before)/parts].bound[n]
			b.ahead = append(b.ahead, part)
		}
	}
}

// fetch has the processor fetch what later calls take of the rows from the given one on.
func (w *worker) fetch(parts []ahead, row int) {
	for i := range parts {
		a := &parts[i]
		kernel.Fetch(w.mem[a.buf], row*a.stride+a.from, a.n, a.toWrite)
	}
}
