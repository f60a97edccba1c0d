package kernel

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

func (m *multiplication) run(c *Ctx, lo, hi int) {
	m.check(c)
	m.beginFetching(c)
	perBatch := m.strips * m.stacks
	for lo < hi {
		batch, unit := lo/perBatch, lo%perBatch
		strip, first := unit/m.stacks, unit%m.stacks
		last := min(m.stacks, first+hi-lo) // the units of a strip share its packing
		i0, i1, strips := first*m.rows, min(last*m.rows, m.m), 1
		if last-first == m.stacks {
			strips = max(1, min((hi-lo)/m.stacks, m.strips-strip, m.shares(i1-i0)))
		}
		m.strip(c, batch, i0, i1, strip*m.cols, min((strip+strips)*m.cols, m.n))
		lo += (last - first) * strips
	}
}

// sharedBytes is how much of the result strips that share a copy of a have, which they add to: it
// should stay in a cache.
const sharedBytes = 2 << 20

// shares returns how many strips of so many rows share the copy of a; 0 if there is none, it does
// not hold all of the rows, or the strips are packed as a whole.
func (m *multiplication) shares(rows int) int {
	if !m.copiesA || rows > m.block || m.packs && !m.panelwise {
		return 0
	}
	if m.k <= m.depth {
		return m.strips
	}
	return sharedBytes / (rows * m.cols * m.size)
}

// strip computes rows [i0,i1) and columns [j0,j1) of a batch.
func (m *multiplication) strip(c *Ctx, batch, i0, i1, j0, j1 int) {
	if m.windows != nil {
		m.windowStrip(c, batch, i0, i1, j0, j1)
		return
	}
	rowC := m.n * m.size
	out := at(c.Out, (batch*m.m+i0)*rowC+j0*m.size)
	if m.turned {
		out, rowC = m.begin(c, batch, i0, i1, j0, j1), (j1-j0)*m.size
	}
	if m.k == 0 {
		for i := range i1 - i0 {
			clear(unsafe.Slice(move(out, i*rowC), (j1-j0)*m.size))
		}
		return
	}
	a := at(c.In[m.left], m.a.batch.at(batch)*m.size+i0*m.a.row)
	b := at(c.In[m.right], m.b.batch.at(batch)*m.size)
	var x *byte
	if m.x.batch != nil {
		x = at(c.In[1], m.x.batch.at(batch)*m.size+i0*m.x.row)
		if m.op == simd.Centred {
			x = move(x, j0*m.x.col)
		}
	}
	block := evenly(i1-i0, m.block)
	if m.down {
		block = evenly(blocks(i1-i0, m.Rows), m.block) * m.Rows
	}
	for p := 0; p < m.k; p += m.depth {
		s := section{cols: j1 - j0, depth: min(m.depth, m.k-p), rowC: rowC, accumulate: m.accumulate || p > 0}
		switch {
		case m.panelwise:
			s.b, s.rowB, s.panelB = c.panels(), m.Cols*m.size, s.depth*m.Cols*m.size
			if i1-i0 <= block {
				s.panelB = 0 // no panel is read again
			}
			s.from = move(b, p*m.b.row+j0*m.b.col)
			s.after = address(b) + uintptr(j1*m.b.col) // where the next strip begins
			if p+m.depth < m.k {
				s.after = address(b) + uintptr((p+m.depth)*m.b.row+j0*m.b.col)
			}
		case m.packs:
			m.pack(c, move(b, p*m.b.row+j0*m.b.col), &s)
		default:
			s.b, s.rowB, s.panelB = move(b, m.lines(p)*m.rowB+j0/m.Cols*m.panelB), m.rowB, m.panelB
		}
		for i := i0; i < i1; i += block {
			s.rows = min(block, i1-i)
			s.a, s.rowA, s.c = move(a, (i-i0)*m.a.row+p*m.a.col), m.a.row, move(out, (i-i0)*rowC)
			s.onward = m.down && s.cols*m.size == rowC && m.follows(c, s.c, s.rows*rowC)
			if x != nil {
				s.x = move(x, (i-i0)*m.x.row)
				if m.op == simd.Shifted {
					s.x = move(s.x, p*m.x.col)
				}
			}
			if m.copiesA {
				simd.CopyRows(m.level, m.size, c.beside(), m.rowCopy, s.a, s.rowA, s.rows, s.depth)
				s.a, s.rowA = c.beside(), m.rowCopy
			}
			m.tiles(c, &s)
			s.from = nil // all is packed
		}
	}
	if m.turned {
		m.finish(c, batch, i0, i1, j0, j1)
	}
}

// follows reports whether as many bytes again follow n bytes of the result in its memory.
func (m *multiplication) follows(c *Ctx, from *byte, n int) bool {
	return address(from)+uintptr(2*n) <= uintptr(c.Out.p)+uintptr(c.Out.n)
}

// A section is a block of each operand; the blocks meet in the caches.
type section struct {
	rows, cols, depth        int
	a, b, x, c               *byte
	rowA, rowB, panelB, rowC int
	accumulate               bool
	onward                   bool // the results that follow are fetched

	from  *byte   // what panels are still to be packed from, nil where there are none
	after uintptr // the address of what is packed after these panels

	batch, row, term int // where it is, for windows
}

// pack copies the section's part of b, which starts at from, into panels.
func (m *multiplication) pack(c *Ctx, from *byte, s *section) {
	if m.brain {
		m.packBrain(c, from, s)
		return
	}
	s.b, s.rowB, s.panelB = c.panels(), m.Cols*m.size, s.depth*m.Cols*m.size
	// Rows that are not transposed are read a few at a time, for all panels: that is the order in
	// memory.
	rows := 32
	if m.scattered() {
		rows = s.depth
	}
	for p := 0; p < s.depth; p += rows {
		for j := 0; j < s.cols; j += m.Cols {
			simd.Panel(m.level, m.size, move(s.b, j/m.Cols*s.panelB+p*s.rowB), m.Cols,
				move(from, p*m.b.row+j*m.b.col), min(rows, s.depth-p), min(m.Cols, s.cols-j), m.b.row, m.b.col)
		}
	}
}

// tiles computes a section, tile by tile.
func (m *multiplication) tiles(c *Ctx, s *section) {
	high, wide := blocks(s.rows, m.Rows), blocks(s.cols, m.Cols)
	least, more := s.rows/high, s.rows%high // rows of a tile; the first few tiles have one row more
	size := func(t int) int {
		if t < more {
			return least + 1
		}
		return least
	}
	if m.across {
		for t, i := 0, 0; t < high; t++ {
			rows := size(t)
			if m.windows != nil {
				m.packWindows(c, s, i, rows)
			} else if m.brain {
				m.packBrainRows(c, move(s.a, i*s.rowA), rows, s.depth)
			} else if m.packsA {
				simd.CopyRows(m.level, m.size, c.beside(), m.stepA, move(s.a, i*s.rowA), m.a.col, s.depth, rows)
			}
			for q := range wide {
				m.tile(c, s, i, 1, rows, q, t)
			}
			i += rows
		}
		return
	}
	for q := range wide {
		if j := q * m.Cols; s.from != nil {
			simd.Panel(m.level, m.size, move(s.b, q*s.panelB), m.Cols, move(s.from, j*m.b.col),
				s.depth, min(m.Cols, s.cols-j), m.b.row, m.b.col)
		}
		if !m.alone {
			if more > 0 {
				m.tile(c, s, 0, more, least+1, q, 0)
			}
			m.tile(c, s, more*(least+1), high-more, least, q, more)
			continue
		}
		for t, i := 0, 0; t < high; t++ {
			rows := size(t)
			m.tile(c, s, i, 1, rows, q, t)
			i += rows
		}
	}
}

// tile computes so many tiles of rows, from row i on, of panel q, of which the first is the t-th.
func (m *multiplication) tile(c *Ctx, s *section, i, tiles, rows, q, t int) {
	j := q * m.Cols
	cols := min(m.Cols, s.cols-j)
	b := move(s.b, q*s.panelB)
	x, rowX := s.x, m.x.row
	if x != nil {
		x = move(x, i*rowX)
		if m.op == simd.Centred {
			x = move(x, j*m.x.col)
		}
		if m.gathers {
			simd.Panel(m.level, m.size, c.center(), m.Cols, x, rows, cols, m.x.row, m.x.col)
			x, rowX = c.center(), m.Cols*m.size
		}
	}
	ahead, stepAhead := address(b), 0 // no pointer, as it may lead out of the operand
	switch {
	case s.from != nil:
		// A column of the next panel comes into the cache, along which its elements lie side by
		// side,
		next := s.after
		if j+m.Cols < s.cols {
			next = address(s.from) + uintptr((j+m.Cols)*m.b.col)
		}
		ahead, stepAhead = next+uintptr(t*m.b.col), m.size
	case m.across && m.dense:
		// or the rows of a for the next tiles, a line with each p,
		if next := q * s.depth * alignment; next < rows*s.rowA {
			ahead, stepAhead = address(s.a)+uintptr((i+rows)*s.rowA+next), alignment
		}
	case m.across && m.a.row == m.size && q < 2:
		// or their first and last line with each p, as they lie across,
		ahead, stepAhead = address(s.a)+uintptr((i+rows+q*(rows-1))*s.rowA), m.a.col
	case c.fetching.next < c.fetching.end:
		// or what is read next,
		ahead, stepAhead = c.fetching.take(s.depth)
	case s.onward:
		// or the results that come after those of the section, which are to be written next, a part
		// of them with each panel,
		ahead, stepAhead = address(s.c)+uintptr(s.rows*s.rowC+(q*s.rows+t*rows)*m.Cols*m.size), alignment
	case m.down && m.dense:
		// or the rows of a for the next section, a part of them with each panel,
		ahead, stepAhead = address(s.a)+uintptr(s.rows*s.rowA+(q*s.rows+t*rows)*alignment), alignment
	case !m.across && m.fetches:
		// or the next panel: one line of its rows during even tiles, the other during odd ones.
		ahead, stepAhead = address(b)+uintptr(s.panelB+t%2*alignment), s.rowB
	}
	if m.brain {
		rowA, colA := m.besideStrides(s.depth)
		to, rowC := move(s.c, i*s.rowC+j*m.size), s.rowC
		apart := m.windows != nil && m.windows.apart
		if apart {
			to, rowC = c.center(), m.Cols*m.size
			if s.accumulate {
				m.scatterRows(c, s, i, rows, j, cols, true)
			}
		}
		m.Run(tiles, rows, cols, m.lines(s.depth), c.beside(), rowA, colA, b, s.rowB, nil, 0, 0,
			to, rowC, s.accumulate, address(b), 0)
		if apart {
			m.scatterRows(c, s, i, rows, j, cols, false)
		}
		return
	}
	a, colA := move(s.a, i*s.rowA), m.a.col
	if m.packsA {
		a, colA = c.beside(), m.stepA
	}
	m.Run(tiles, rows, cols, s.depth, a, s.rowA, colA, b, s.rowB, x, rowX, m.x.col,
		move(s.c, i*s.rowC+j*m.size), s.rowC, s.accumulate, ahead, stepAhead)
}

// at returns a pointer to a byte of a block of memory.
func at(m Mem, offset int) *byte { return (*byte)(unsafe.Add(m.p, offset)) }

// address returns p as a number.
func address(p *byte) uintptr { return uintptr(unsafe.Pointer(p)) }

// move returns p moved by some bytes; both must point into the same block of memory.
func move(p *byte, by int) *byte { return (*byte)(unsafe.Add(unsafe.Pointer(p), by)) }
