package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Pooling is common to the kernels of windows over x[...,h,w,c]; with Spatial 1 there is no h, and
// the height is 1. Elements outside of x are left out, and every window has an element inside.
// Floats, all dense.
type Pooling struct {
	Spatial               int
	Size, Stride, Padding [2]int
	Dilation              [2]int // 0 stands for 1
}

// MaxPool computes the largest element of every window of x, NaN if any is.
type MaxPool Pooling

// MaxPick takes x and u, and for each window of x picks the element of u at the place of the
// window's largest: the first that is not less than all.
type MaxPick Pooling

// MaxUnpool takes x and an array with an element for each window of x. The result is zeros, to
// which each element is added where its window has its largest.
type MaxUnpool Pooling

// SumPool computes the sum of every window.
type SumPool Pooling

// SumUnpool takes an array with an element for each window. The result is zeros, to which each
// element is added all over its window.
type SumUnpool Pooling

// InPlace is false.
func (MaxPool) InPlace(int) bool   { return false }
func (MaxPick) InPlace(int) bool   { return false }
func (MaxUnpool) InPlace(int) bool { return false }
func (SumPool) InPlace(int) bool   { return false }
func (SumUnpool) InPlace(int) bool { return false }

// Strided is false.
func (MaxPool) Strided(int) bool   { return false }
func (MaxPick) Strided(int) bool   { return false }
func (MaxUnpool) Strided(int) bool { return false }
func (SumPool) Strided(int) bool   { return false }
func (SumUnpool) Strided(int) bool { return false }

// Flops counts one for each element of a window.
func (k MaxPool) Flops(out Layout, _ []Layout) int64  { return Pooling(k).flops(out) }
func (k MaxPick) Flops(out Layout, _ []Layout) int64  { return Pooling(k).flops(out) }
func (k MaxUnpool) Flops(_ Layout, in []Layout) int64 { return Pooling(k).flops(in[1]) }
func (k SumPool) Flops(out Layout, _ []Layout) int64  { return Pooling(k).flops(out) }
func (k SumUnpool) Flops(_ Layout, in []Layout) int64 { return Pooling(k).flops(in[0]) }
func (k Pooling) flops(y Layout) int64                { return int64(y.Len()) * int64(k.Size[0]*k.Size[1]) }

// Divide divides along the images.
func (k MaxPool) Divide(out Layout, _ []Layout) []Division   { return Pooling(k).divide(out, 1) }
func (k MaxPick) Divide(out Layout, _ []Layout) []Division   { return Pooling(k).divide(out, 2) }
func (k MaxUnpool) Divide(out Layout, _ []Layout) []Division { return Pooling(k).divide(out, 2) }
func (k SumPool) Divide(out Layout, _ []Layout) []Division   { return Pooling(k).divide(out, 1) }
func (k SumUnpool) Divide(out Layout, _ []Layout) []Division { return Pooling(k).divide(out, 1) }

func (k Pooling) divide(out Layout, operands int) []Division {
	return byImages(out.Dims[:out.Rank-1-k.Spatial], []bool{true, true}[:operands]...)
}

// Bind takes x.
func (k MaxPool) Bind(out Layout, in []Layout) Bound {
	return sized(Pooling(k).bind(k, in[0], out, (*channelwise).max).byRow(), out, in)
}

// Bind takes x and u.
func (k MaxPick) Bind(out Layout, in []Layout) Bound {
	return sized(Pooling(k).bind(k, in[0], out, (*channelwise).pick).byRow(), out, in)
}

// Bind takes x and its windows.
func (k MaxUnpool) Bind(out Layout, in []Layout) Bound {
	return sized(Pooling(k).bind(k, out, in[1], (*channelwise).unpick).byImage(), out, in)
}

// Bind takes x.
func (k SumPool) Bind(out Layout, in []Layout) Bound {
	return sized(Pooling(k).bind(k, in[0], out, (*channelwise).sum).byRow(), out, in)
}

// Bind takes the windows.
func (k SumUnpool) Bind(out Layout, in []Layout) Bound {
	return sized(Pooling(k).bind(k, out, in[0], (*channelwise).unsum).byImage(), out, in)
}

// bind returns the pooling of x in windows y, each strip of which is done by do.
func (k Pooling) bind(kernel Kernel, x, y Layout, do func(*channelwise, *Ctx, strip)) *channelwise {
	if !isFloat(x.DType) {
		panic(unsupported(kernel, x.DType))
	}
	p := &channelwise{alike: true, size: x.DType.Size(), loops: channelwiseLoopsOf(x.DType), do: do}
	p.images, p.h, p.w, p.channels = planes(x, k.Spatial)
	_, yh, yw, _ := planes(y, k.Spatial)
	of := func(axis, n, size int) sampling {
		return sampling{n: n, size: size, stride: k.Stride[axis], at: -k.Padding[axis], step: max(1, k.Dilation[axis]), taps: k.Size[axis], by: 1}
	}
	p.down, p.across = of(0, yh, p.h), of(1, yw, p.w)
	p.stretches = p.across.stretches(0, yw)
	p.apart = k.Size == k.Stride && p.down.step == 1 && p.across.step == 1 && k.Padding == [2]int{} && yh*k.Stride[0] == p.h && yw*k.Stride[1] == p.w
	return p
}

// taps returns pointers to four taps in an array like x.
func (p *channelwise) taps(x Mem, s strip) [4]*byte {
	return [4]*byte{at(x, s.x), at(x, p.tap(s, 1)), at(x, p.tap(s, 2)), at(x, p.tap(s, 3))}
}

// fold combines the taps of x in dst.
func (p *channelwise) fold(dst *byte, dstStride int, x Mem, s strip, zip simd.Zip) {
	stride, _, _ := p.between(s)
	if s.rows*s.cols == 1 {
		p.loops.copy(dst, at(x, s.x), s.windows, s.width, dstStride, stride)
		return
	}
	zip(dst, at(x, s.x), at(x, p.tap(s, 1)), s.windows, s.width, dstStride, stride, stride)
	for k := 2; k < s.rows*s.cols; k++ {
		zip(dst, dst, at(x, p.tap(s, k)), s.windows, s.width, dstStride, dstStride, stride)
	}
}

func (p *channelwise) max(c *Ctx, s strip) {
	x, y, _ := p.between(s)
	if s.rows*s.cols == 4 && p.loops.maxOfFour != nil {
		t := p.taps(c.In[0], s)
		p.loops.maxOfFour(at(c.Out, s.y), t[0], t[1], t[2], t[3], s.windows, s.width, y, x, x, x, x)
		return
	}
	p.fold(at(c.Out, s.y), y, c.In[0], s, p.loops.max)
}

func (p *channelwise) sum(c *Ctx, s strip) {
	_, y, _ := p.between(s)
	p.fold(at(c.Out, s.y), y, c.In[0], s, p.loops.add)
}

// pick goes from the last tap to the first: an element that is not less replaces the one before.
func (p *channelwise) pick(c *Ctx, s strip) {
	x, y, t := p.between(s)
	most, less := hand(c, 0), hand(c, 1)
	p.fold(most, t, c.In[0], s, p.loops.max)
	dst, last := at(c.Out, s.y), s.rows*s.cols-1
	p.loops.copy(dst, at(c.In[1], p.tap(s, last)), s.windows, s.width, y, x)
	for k := last - 1; k >= 0; k-- {
		p.loops.less(less, at(c.In[0], p.tap(s, k)), most, s.windows, s.width, s.width, x, t)
		p.loops.choose(dst, less, dst, at(c.In[1], p.tap(s, k)), s.windows, s.width, y, s.width, y, x)
	}
}

// greatest combines the taps of x in dst, dense in scratch, where only the order of elements
// matters and not the sign of 0.
func (p *channelwise) greatest(dst *byte, x Mem, s strip) {
	stride, _, t := p.between(s)
	n, most := s.rows*s.cols, p.loops.maxOfFour
	if n < 4 || most == nil {
		p.fold(dst, t, x, s, p.loops.max)
		return
	}
	a := p.taps(x, s)
	most(dst, a[0], a[1], a[2], a[3], s.windows, s.width, t, stride, stride, stride, stride)
	for k := 4; k < n; k += 3 {
		second, last := at(x, p.tap(s, min(k+1, n-1))), at(x, p.tap(s, min(k+2, n-1)))
		most(dst, dst, at(x, p.tap(s, k)), second, last, s.windows, s.width, t, t, stride, stride, stride)
	}
}

// unpick goes from the first tap to the last: the first element that is not less takes the value,
// and later ones get none.
func (p *channelwise) unpick(c *Ctx, s strip) {
	x, y, t := p.between(s)
	if s.rows*s.cols == 4 && p.apart && p.loops.layAtMax != nil {
		d, from := p.taps(c.Out, s), p.taps(c.In[0], s)
		p.loops.layAtMax(d[0], d[1], d[2], d[3], from[0], from[1], from[2], from[3], at(c.In[1], s.y), s.windows, s.width,
			x, x, x, x, x, x, x, x, y)
		return
	}
	most, less, left, none := hand(c, 0), hand(c, 1), hand(c, 2), nothing(c, s, p.size)
	p.greatest(most, c.In[0], s)
	p.loops.copy(left, at(c.In[1], s.y), s.windows, s.width, t, y)
	last := s.rows*s.cols - 1
	if !p.apart && p.loops.takeAtMax != nil {
		for k := range last {
			tap := p.tap(s, k)
			p.loops.takeAtMax(at(c.Out, tap), left, at(c.In[0], tap), most, s.windows, s.width, x, t, x, t)
		}
		p.lay(at(c.Out, p.tap(s, last)), left, t, s)
		return
	}
	for k := range last {
		p.loops.less(less, at(c.In[0], p.tap(s, k)), most, s.windows, s.width, s.width, x, t)
		dst := at(c.Out, p.tap(s, k))
		if p.apart {
			p.loops.choose(dst, less, none, left, s.windows, s.width, x, s.width, 0, t)
		} else {
			part := c.panels()
			p.loops.choose(part, less, none, left, s.windows, s.width, t, s.width, 0, t)
			p.lay(dst, part, t, s)
		}
		p.loops.choose(left, less, left, none, s.windows, s.width, t, s.width, t, 0)
	}
	p.lay(at(c.Out, p.tap(s, last)), left, t, s)
}

func (p *channelwise) unsum(c *Ctx, s strip) {
	_, y, _ := p.between(s)
	for k := range s.rows * s.cols {
		p.lay(at(c.Out, p.tap(s, k)), at(c.In[0], s.y), y, s)
	}
}
