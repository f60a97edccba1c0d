package kernel

// A walk visits the elements of an array, or of some of its axes, in row-major order. Axes of size
// 1 are left out, and neighbouring axes that one stride can step through are merged, so the last
// axis is as long as the layout allows. rank is at least 1.
type walk struct {
	rank          int
	dims, strides [MaxRank]int
	offset        int
	n             int // elements
}

// walkOf returns the walk over the axes of l that are in the set, outer first, from the given
// offset.
func walkOf(l Layout, axes uint8, offset int) *walk {
	w := new(walk)
	w.over(&l, axes, offset)
	return w
}

// over makes w the walk that walkOf returns, without memory of its own.
func (w *walk) over(l *Layout, axes uint8, offset int) {
	*w = walk{offset: offset, n: 1}
	for a := range l.Rank {
		if axes>>a&1 == 0 {
			continue
		}
		d, s := l.Dims[a], l.Strides[a]
		w.n *= d
		last := w.rank - 1
		switch {
		case d == 1:
		case last >= 0 && w.strides[last] == s*d:
			w.dims[last] *= d
			w.strides[last] = s
		default:
			w.dims[w.rank], w.strides[w.rank] = d, s
			w.rank++
		}
	}
	if w.rank == 0 {
		w.rank, w.dims[0], w.strides[0] = 1, 1, 1
	}
}

// allAxes is the set of every axis.
const allAxes = 1<<MaxRank - 1

// walkOver returns the walk over l broadcast to the shape of out.
func walkOver(out, l Layout) *walk {
	b, ok := l.to(out.Rank, out.Dims)
	if !ok {
		panic("kernel: an operand's shape does not broadcast to the result's")
	}
	return walkOf(b, allAxes, b.Offset)
}

// split returns two walks: over the axes that a reduction keeps, and over those that it folds. The
// first has the offset.
func split(l Layout, folded uint8) (kept, fold *walk) {
	return walkOf(l, ^folded, l.Offset), walkOf(l, folded, 0)
}

// prefix and suffix return the sets of the axes before a, and from a on.
func prefix(a int) uint8 { return 1<<a - 1 }
func suffix(a int) uint8 { return ^prefix(a) }

// inner returns the size and stride of the last axis.
func (w *walk) inner() (dim, stride int) { return w.dims[w.rank-1], w.strides[w.rank-1] }

// dense reports whether the elements lie side by side.
func (w *walk) dense() bool { return w.rank == 1 && w.strides[0] == 1 }

// single reports whether there is only one element, repeated.
func (w *walk) single() bool { return w.rank == 1 && w.strides[0] == 0 && w.n > 0 }

// at returns the position of element i in memory.
func (w *walk) at(i int) int {
	p := w.offset
	for a := w.rank - 1; a > 0; a-- {
		q := i / w.dims[a]
		p += (i - q*w.dims[a]) * w.strides[a]
		i = q
	}
	return p + i*w.strides[0]
}

// A cursor is a position on a walk.
type cursor struct {
	index [MaxRank]int
	pos   int
}

// seek returns the cursor at element i.
func (w *walk) seek(i int) (c cursor) {
	c.pos = w.offset
	for a := w.rank - 1; a > 0; a-- {
		q := i / w.dims[a]
		c.index[a] = i - q*w.dims[a]
		c.pos += c.index[a] * w.strides[a]
		i = q
	}
	c.index[0] = i
	c.pos += i * w.strides[0]
	return c
}

// step moves the cursor m elements on, at most to the end of the last axis; from there it goes to
// the next row.
func (w *walk) step(c *cursor, m int) {
	a := w.rank - 1
	c.index[a] += m
	c.pos += m * w.strides[a]
	for a > 0 && c.index[a] == w.dims[a] {
		c.pos += w.strides[a-1] - w.dims[a]*w.strides[a]
		c.index[a] = 0
		a--
		c.index[a]++
	}
}

// gather fills dst with the elements from number lo on; base is where the walk starts in src.
func gather[T any](w *walk, dst, src []T, base, lo int) {
	if w.dense() {
		copy(dst, src[base+w.offset+lo:])
		return
	}
	c := w.seek(lo)
	last := w.rank - 1
	dim, stride := w.inner()
	for len(dst) > 0 {
		m := min(len(dst), dim-c.index[last])
		strided(dst[:m], src, base+c.pos, stride)
		dst = dst[m:]
		w.step(&c, m)
	}
}

// strided copies elements that are a stride apart to dst.
func strided[T any](dst, src []T, pos, stride int) {
	switch stride {
	case 0:
		fill(dst, src[pos])
	case 1:
		copy(dst, src[pos:pos+len(dst)])
	default:
		for i := range dst {
			dst[i] = src[pos]
			pos += stride
		}
	}
}

func fill[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

// read returns elements [lo,hi) of a walk that starts at base in src: a part of src where they lie
// side by side, else a copy in buf.
func read[T any](w *walk, src, buf []T, base, lo, hi int) []T {
	if lo == hi {
		return nil
	}
	dim, stride := w.inner()
	if stride == 1 && (w.rank == 1 || lo/dim == (hi-1)/dim) {
		p := base + w.at(lo)
		return src[p : p+hi-lo]
	}
	gather(w, buf[:hi-lo], src, base, lo)
	return buf[:hi-lo]
}
