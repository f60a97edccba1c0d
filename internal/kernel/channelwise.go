package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// A channelwise is an operation on windows over x[images,h,w,channels], with a result for each
// channel of its own: pooling, or a depthwise convolution.
type channelwise struct {
	size, images, h, w, channels int
	down, across                 sampling
	stretches                    []stretch // of windows in a row
	apart                        bool      // the windows do not share elements, and cover x
	alike                        bool      // channels: what lies side by side may be taken for channels of one window
	loops                        channelwiseLoops
	do                           func(*channelwise, *Ctx, strip)
}

// channelwiseLoops holds the vector loops of such operations.
type channelwiseLoops struct {
	add, mul, max, less simd.Zip
	choose              simd.Mix
	copy                simd.Map
	columnSum           simd.ColumnSum
	maxOfFour           simd.MaxOfFour // may be nil
	layAtMax            simd.LayAtMax  // may be nil
	takeAtMax           simd.TakeAtMax // may be nil
}

func channelwiseLoopsOf(dt DType) channelwiseLoops {
	if dt == F32 {
		return channelwiseLoopsFor[float32]()
	}
	return channelwiseLoopsFor[float64]()
}

func channelwiseLoopsFor[T float]() channelwiseLoops {
	zip := func(op simd.Operation) simd.Zip { return simd.ZipOf[T](level, op).Rows }
	size := sizeOf[T]()
	maxOfFour, layAtMax := simd.FourOf(level, 8*size)
	return channelwiseLoops{
		zip(simd.Add), zip(simd.Mul), zip(simd.Max), simd.RelationOf[T](level, simd.Less).Rows,
		simd.ChooseOf(level, size).Rows, simd.CopyOf(level, size), simd.ColumnSumOf[T](level), maxOfFour, layAtMax,
		simd.TakeAtMaxOf(level, 8*size),
	}
}

// A strip is a range of channels of neighbouring windows of a row that have the same taps inside. x
// is the offset of the first tap of the first window, y that of the window's result, in bytes. A
// strip fits into a tile of scratch. Every loop goes over it tap by tap.
type strip struct {
	x, y                    int
	windows, channel, width int
	row, rows, col, cols    int // taps: the first and how many
}

// byRow has a unit for each row of windows.
func (p *channelwise) byRow() Bound {
	return Bound{p.images * p.down.n, func(c *Ctx, lo, hi int) {
		for u := lo; u < hi; u++ {
			p.row(c, u/p.down.n, u%p.down.n)
		}
	}}
}

// byImage is for results laid out as x: where windows share elements, or leave some out, an image
// is a unit and starts from zeros, which are written shortly before windows are added to them.
func (p *channelwise) byImage() Bound {
	if p.apart {
		return p.byRow()
	}
	row := p.w * p.channels * p.size
	return Bound{p.images, func(c *Ctx, lo, hi int) {
		for image := lo; image < hi; image++ {
			cleared := 0 // rows
			clearTo := func(end int) {
				if end > cleared {
					c.Out.Slice((image*p.h+cleared)*row, (end-cleared)*row).Clear()
					cleared = end
				}
			}
			for i := range p.down.n {
				clearTo(min(p.h, i*p.down.stride+p.down.at+(p.down.taps-1)*p.down.step+1))
				p.row(c, image, i)
			}
			clearTo(p.h)
		}
	}}
}

// row does a row of windows, strip by strip.
func (p *channelwise) row(c *Ctx, image, i int) {
	tap, end := p.down.inside(i)
	for _, a := range p.stretches {
		s := strip{row: tap, rows: end - tap, col: a.tap, cols: a.end - a.tap}
		p.strips(image, i, a.from, a.to, s, func(s strip) { p.do(p, c, s) })
	}
}

// strips cuts windows [from,to) of a row.
func (p *channelwise) strips(image, i, from, to int, s strip, f func(strip)) {
	width, windows := min(p.channels, tileLen), max(1, tileLen/p.channels)
	for j := from; j < to; j += windows {
		s.windows = min(windows, to-j)
		for s.channel = 0; s.channel < p.channels; s.channel += width {
			s.width = min(width, p.channels-s.channel)
			x := (image*p.h+i*p.down.stride+p.down.at+s.row*p.down.step)*p.w + j*p.across.stride + p.across.at + s.col*p.across.step
			s.x = (x*p.channels + s.channel) * p.size
			s.y = (((image*p.down.n+i)*p.across.n+j)*p.channels + s.channel) * p.size
			if p.alike && p.across.stride == 1 && s.width == p.channels {
				flat := s
				flat.windows, flat.width = 1, s.windows*s.width
				f(flat)
				continue
			}
			f(s)
		}
	}
}

// tap returns the offset of tap k of the strip's first window.
func (p *channelwise) tap(s strip, k int) int {
	return s.x + (k/s.cols*p.down.step*p.w+k%s.cols*p.across.step)*p.channels*p.size
}

// between returns the distances from window to window, in bytes, in x, y and scratch.
func (p *channelwise) between(s strip) (x, y, scratch int) {
	return p.across.stride * p.channels * p.size, p.channels * p.size, s.width * p.size
}

// lay writes part to a tap of all windows, or adds it where windows share elements.
func (p *channelwise) lay(dst, part *byte, partStride int, s strip) {
	x, _, _ := p.between(s)
	if p.apart {
		p.loops.copy(dst, part, s.windows, s.width, x, partStride)
	} else {
		p.loops.add(dst, dst, part, s.windows, s.width, x, x, partStride)
	}
}

// nothing returns a row of zeros in scratch.
func nothing(c *Ctx, s strip, size int) *byte {
	m := c.scratch.Slice(3*tileBytes, s.width*size)
	m.Clear()
	return at(m, 0)
}

// hand returns scratch tile i.
func hand(c *Ctx, i int) *byte { return at(c.scratch, i*tileBytes) }
