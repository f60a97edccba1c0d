package kernel

import "unsafe"

// A depthwise convolution has as many groups as channels: each channel has a kernel of its own, so
// vectors hold channels.

// depthwise reports whether the convolution is one.
func (g *convolved) depthwise() bool { return g.wc == 1 && g.wo == 1 }

// channelwise returns the windows, for walks over the pixels of a tap.
func (g *convolved) channelwise() *channelwise {
	return &channelwise{
		size: g.dtype.Size(), images: g.images, h: g.xh, w: g.xw, channels: g.xc,
		down: g.rows(), across: g.cols(), loops: channelwiseLoopsOf(g.dtype),
	}
}

// depthwiseKernel has a unit for each tap: it sums, in float64, the products of all pairs of pixels
// that the tap joins.
func (g *convolved) depthwiseKernel(accumulate bool) Bound {
	p, store := g.channelwise(), storeSums[float32]
	if g.dtype == F64 {
		store = storeSums[float64]
	}
	return Bound{g.kh * g.kw, func(c *Ctx, lo, hi int) {
		sums := unsafe.Slice((*float64)(unsafe.Pointer(c.panels())), g.xc)
		for tap := lo; tap < hi; tap++ {
			clear(sums)
			p.tapSums(c, tap/g.kw, tap%g.kw)
			store(c, tap*g.xc, sums, accumulate)
		}
	}}
}

// tapSums adds the products of a tap of x with the windows to the sums in scratch.
func (p *channelwise) tapSums(c *Ctx, kh, kw int) {
	x, y, _ := p.between(strip{})
	first, end := p.down.meets(kh)
	from, to := p.across.meets(kw)
	for image := range p.images {
		for i := first; i < end; i++ {
			p.strips(image, i, from, to, strip{row: kh, rows: 1, col: kw, cols: 1}, func(s strip) {
				term, t := hand(c, 0), s.width*p.size
				p.loops.mul(term, at(c.In[0], s.x), at(c.In[1], s.y), s.windows, s.width, t, x, y)
				p.loops.columnSum(move(c.panels(), 8*s.channel), term, s.windows, s.width, t)
			})
		}
	}
}

// storeSums writes the sums to the elements of the result from one on, or adds them.
func storeSums[T float](c *Ctx, from int, sums []float64, accumulate bool) {
	dst := raw[T](c.Out)[from : from+len(sums)]
	for i, s := range sums {
		if accumulate {
			s += float64(dst[i])
		}
		dst[i] = T(s)
	}
}
