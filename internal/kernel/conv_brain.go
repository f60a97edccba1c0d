package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// A convolution that rounds its operands to bfloat16 is a product of matrices whose left operand is
// never in memory: a tile of it is gathered from the windows while it is rounded, with zeros for
// what lies outside. So it has the blocks and the micro-kernel of other such products.

// windows describes that left operand. Its rows are the places of the result, image by image, and
// its terms the taps of their windows with the channels of a group. For the derivative by the
// weights it is the other way round: rows are the taps and channels, terms the places.
type windows struct {
	rows, cols sampling
	channels   int // of a group, in the source
	span       int // terms of a tap: channels, or one more where they are odd and pairs are packed
	source     grid
	weights    weights
	exchanged  bool

	result grid // with what lies between neighbours of a part, for places that do not follow each other
	first  int  // the place of the part in an image of the result, in bytes
	apart  bool // rows of the result do not follow each other
}

// rounded returns a product whose left operand are windows.
func (g *convolved) rounded(w windows, m, n, k int, accumulate bool) *multiplication {
	size := g.dtype.Size()
	p := newMultiplication(product{op: simd.Dot, dtype: g.dtype, batches: g.Groups, m: m, n: n, right: 1,
		accumulate: accumulate, brain: true, packed: g.packed, a: matrices{col: 1}, b: matrices{col: 1}})
	w.span = p.together() * p.lines(w.channels)
	if p.windows, p.k = &w, k; w.exchanged {
		p.a.col, p.b.row = 0, g.yc*size // tiles are packed as panels
	} else {
		p.k = w.rows.taps * w.cols.taps * w.span
	}
	if m*n > 0 {
		p.divide()
	}
	return p
}

// roundedForward computes y.
func (g *convolved) roundedForward() *multiplication {
	c := g.forward()
	p := c.parts[0]
	return g.rounded(windows{rows: p.rows, cols: p.cols, channels: g.wc, source: c.source, weights: c.weights, result: c.result},
		g.images*g.yh*g.yw, g.wo, 0, false)
}

// roundedBackward computes x, part by part.
func (g *convolved) roundedBackward() (parts []*multiplication) {
	c := g.backward(false)
	for _, p := range c.parts {
		parts = append(parts, g.rounded(windows{rows: p.rows, cols: p.cols, channels: g.wo, source: c.source, weights: c.weights,
			result: c.result, first: p.first, apart: g.Stride != [2]int{1, 1}}, g.images*p.rows.n*p.cols.n, g.wc, 0, false))
	}
	return parts
}

// roundedKernel computes w. Its taps and channels follow each other as rows of a matrix do.
func (g *convolved) roundedKernel(accumulate bool) *multiplication {
	y := g.grid(g.yh, g.yw, g.yc)
	return g.rounded(windows{rows: g.rows(), cols: g.cols(), channels: g.wc, source: g.grid(g.xh, g.xw, g.xc), exchanged: true,
		result: grid{pixel: y.pixel, group: y.group}}, g.kh*g.kw*g.wc, g.wo, g.images*g.yh*g.yw, accumulate)
}

// inTurn runs products one after the other.
func inTurn(parts ...*multiplication) Bound {
	units := 0
	for _, p := range parts {
		units += p.units()
	}
	return Bound{units, func(c *Ctx, lo, hi int) {
		for _, p := range parts {
			n := p.units()
			if lo, hi := max(lo, 0), min(hi, n); lo < hi {
				p.run(c, lo, hi)
			}
			lo, hi = lo-n, hi-n
		}
	}}
}

func (m *multiplication) units() int { return m.batches * m.strips * m.stacks }

// depthOf returns the terms of a block: some taps, or a part of one.
func (w *windows) depthOf(k, most int) int {
	switch {
	case w.exchanged || k == 0:
		return 2 * blocks(evenly(k, most), 2)
	case w.span > most:
		return 2 * blocks(evenly(w.span, most), 2)
	}
	return w.span * evenly(w.rows.taps*w.cols.taps, most/w.span)
}

// until returns the end of the block that begins with term p.
func (m *multiplication) until(p int) int {
	if w := m.windows; !w.exchanged && m.depth < w.span {
		return min(p+m.depth, (p/w.span+1)*w.span, m.k)
	}
	return min(p+m.depth, m.k)
}

// windowStrip is strip for windows.
func (m *multiplication) windowStrip(c *Ctx, batch, i0, i1, j0, j1 int) {
	w := m.windows
	out := at(c.Out, w.first+batch*w.result.group+j0*m.size)
	s := section{batch: batch, cols: j1 - j0, rowC: w.result.pixel, a: at(c.In[m.left], batch*w.source.group)}
	b := at(c.In[m.right], j0*m.size)
	if w.exchanged {
		b = move(b, batch*w.result.group)
	} else {
		b = move(b, batch*w.weights.group)
	}
	block := evenly(i1-i0, m.block)
	for p, next := 0, 0; p == 0 || p < m.k; p = next { // no terms give zeros
		next = m.until(p)
		s.term, s.depth, s.accumulate = p, next-p, m.accumulate || p > 0
		switch {
		case m.packed:
			s.b, s.rowB, s.panelB = at(c.In[m.right], m.lines(p)*m.rowB+j0/m.Cols*m.panelB), m.rowB, m.panelB
		case w.exchanged:
			m.packBrain(c, move(b, p*m.b.row), &s)
		default:
			m.packTaps(c, b, &s)
		}
		for i := i0; i < i1; i += block {
			s.row, s.rows, s.c = i, min(block, i1-i), out
			if !w.apart {
				s.c = move(out, i*s.rowC)
			}
			m.tiles(c, &s)
		}
		if m.k == 0 {
			break
		}
	}
}

// packTaps packs the weights of a section's taps.
func (m *multiplication) packTaps(c *Ctx, from *byte, s *section) {
	w := m.windows
	s.b, s.rowB, s.panelB = c.panels(), m.Cols*m.size, m.lines(s.depth)*m.Cols*m.size
	for p := s.term; p < s.term+s.depth; {
		tap, channel := p/w.span, p%w.span
		n := min(w.span-channel, s.term+s.depth-p)
		row, col := tap/w.cols.taps, tap%w.cols.taps
		src := move(from, (w.rows.first+row*w.rows.by)*w.weights.row+(w.cols.first+col*w.cols.by)*w.weights.col+channel*w.weights.channel)
		for j := 0; j < s.cols; j += m.Cols {
			m.brainPanel(c, move(s.b, j/m.Cols*s.panelB+m.lines(p-s.term)*s.rowB), m.Cols, move(src, j*m.size),
				min(n, w.channels-channel), min(m.Cols, s.cols-j), w.weights.channel, m.size)
		}
		p += n
	}
}

// A run is some places of a row of an image that follow each other; the first is place number at.
type run struct{ at, image, row, col, n int }

// next returns the run that begins with a place, of at most so many.
func (w *windows) next(at, most int) run {
	line := at / w.cols.n
	col := at % w.cols.n
	return run{at, line / w.rows.n, line % w.rows.n, col, min(most, w.cols.n-col)}
}

// inside returns the places of a run that a tap leads into the source, and where the first of them
// reads.
func (w *windows) inside(r run, row, col int) (from, to, offset int) {
	i := r.row*w.rows.stride + w.rows.at + row*w.rows.step
	if i < 0 || i >= w.rows.size {
		return 0, 0, 0
	}
	from, to = w.cols.meets(col)
	from, to = max(from, r.col), min(to, r.col+r.n)
	if from >= to {
		return 0, 0, 0
	}
	return from - r.col, to - r.col, r.image*w.source.image + i*w.source.row + (from*w.cols.stride+w.cols.at+col*w.cols.step)*w.source.pixel
}

// packWindows packs rows of a section, from row i on, for the tiles across.
func (m *multiplication) packWindows(c *Ctx, s *section, i, rows int) {
	if m.windows.exchanged {
		m.packExchanged(c, s, i, rows)
		return
	}
	w := m.windows
	line, _ := m.besideStrides(s.depth)
	for done := 0; done < rows; {
		r := w.next(s.row+i+done, rows-done)
		dst := move(c.beside(), done*line)
		for p := s.term; p < s.term+s.depth; {
			tap, channel := p/w.span, p%w.span
			n := min(w.span-channel, s.term+s.depth-p)
			to := move(dst, m.lines(p-s.term)*m.size)
			from, end, offset := w.inside(r, tap/w.cols.taps, tap%w.cols.taps)
			clearRows(to, line, from, m.lines(n)*m.size)
			m.roundRows(move(to, from*line), line, move(s.a, offset+channel*m.size), w.cols.stride*w.source.pixel, end-from, min(n, w.channels-channel))
			clearRows(move(to, end*line), line, r.n-end, m.lines(n)*m.size)
			p += n
		}
		done += r.n
	}
}

// roundRows rounds rows of numbers that lie side by side.
func (m *multiplication) roundRows(dst *byte, rowDst int, src *byte, rowSrc, rows, cols int) {
	if m.pairs {
		simd.BrainRows(m.level, dst, rowDst, src, rowSrc, rows, cols)
		return
	}
	simd.CopyRows(m.level, m.size, dst, rowDst, src, rowSrc, rows, cols)
	for i := range rows {
		simd.RoundBrain(floatsAt(move(dst, i*rowDst), cols))
	}
}

// packExchanged packs taps and channels, from row i on, as a panel.
func (m *multiplication) packExchanged(c *Ctx, s *section, i, rows int) {
	w, line := m.windows, m.Rows*m.size
	gathered := c.beside()
	if m.pairs {
		gathered = move(gathered, besideBytes/2)
	}
	for done := 0; done < rows; {
		tap, channel := (s.row+i+done)/w.channels, (s.row+i+done)%w.channels
		n := min(w.channels-channel, rows-done)
		for p := 0; p < s.depth; {
			r := w.next(s.term+p, s.depth-p)
			to := move(gathered, p*line+done*m.size)
			from, end, offset := w.inside(r, tap/w.cols.taps, tap%w.cols.taps)
			clearRows(to, line, from, n*m.size)
			simd.CopyRows(m.level, m.size, move(to, from*line), line, move(s.a, offset+channel*m.size), w.cols.stride*w.source.pixel, end-from, n)
			clearRows(move(to, end*line), line, r.n-end, n*m.size)
			p += r.n
		}
		done += n
	}
	if m.pairs {
		simd.BrainPanel(m.level, c.beside(), m.Rows, gathered, s.depth, rows, line, m.size, nil)
		return
	}
	for p := range s.depth {
		simd.RoundBrain(floatsAt(move(gathered, p*line), rows))
	}
}

// clearRows sets rows of bytes to 0.
func clearRows(dst *byte, row, rows, bytes int) {
	for i := range rows {
		clear(bytesAt(move(dst, i*row), bytes))
	}
}

// scatterRows copies a tile of the result, rows of which follow each other, to or from its places.
func (m *multiplication) scatterRows(c *Ctx, s *section, i, rows, j, cols int, back bool) {
	w := m.windows
	for k := range rows {
		r := w.next(s.row+i+k, 1)
		place := bytesAt(move(s.c, r.image*w.result.image+r.row*w.result.row+r.col*w.result.pixel+j*m.size), cols*m.size)
		tile := bytesAt(move(c.center(), k*m.Cols*m.size), cols*m.size)
		if back {
			copy(tile, place)
		} else {
			copy(place, tile)
		}
	}
}
