package kernel

// A strip of at most narrowStrip rows side by side, of at most shortStrip elements, is too narrow
// for the loops: many are laid side by side first.
const (
	narrowStrip = 16
	shortStrip  = 64
)

// betweenLoop is for short rows with few of them beside each other: it lays many narrow strips out
// in scratch as a wide one, and the result back.
func (e *exponentials[T]) betweenLoop(x Layout, axis int) Bound {
	before, inner := walkOf(x, prefix(axis), x.Offset), walkOf(x, suffix(axis+1), 0)
	per := max(1, min(tileLen, 4*tileLen/e.n)/e.inner) // narrow strips
	strip, width := e.inner*e.size, per*e.inner*e.size
	lays := &relay{rank: before.rank, dims: before.dims}
	back := &relay{rank: before.rank, dims: before.dims}
	many := 1
	for a := before.rank - 1; a >= 0; a-- {
		lays.from[a], lays.to[a] = before.strides[a]*e.size, many*strip
		back.from[a], back.to[a] = many*strip, many*e.n*strip
		many *= before.dims[a]
	}
	part, parts := e.size, e.inner // bytes of a part, and parts of a row of a strip
	if inner.dense() {
		part, parts = strip, 1
	}
	var wide, narrow, result []int // where parts lie
	for i := range e.n {
		for j := range parts {
			wide = append(wide, i*width+j*part)
			narrow = append(narrow, (i*x.Strides[axis]+inner.at(j))*e.size)
			result = append(result, i*strip+j*part)
		}
	}
	lays.with(wide, narrow, part)
	back.with(result, wide, part)
	return Bound{blocks(before.n, per), func(c *Ctx, lo, hi int) {
		checkReach(c, e.reachOut, e.reachX)
		src, turned := at(c.In[0], before.offset*e.size), c.panels()
		for first := lo * per; first < min(hi*per, before.n); first += per {
			n := min(per, before.n-first)
			lays.run(turned, src, first, n, first*strip, 0)
			if e.kind == logSumExp {
				e.strip(c, at(c.Out, first*strip), turned, n*e.inner, width, width)
				continue
			}
			e.strip(c, turned, turned, n*e.inner, width, width)
			back.run(at(c.Out, 0), turned, first, n, 0, first*strip)
		}
	}}
}
