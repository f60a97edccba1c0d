package kernel

import (
	"fmt"
	"slices"
)

// Convolution holds the settings that the three kernels of a convolution share. Each computes the
// derivative, by one of the three arrays, of
//
//	Σ y[q,o]·w[k,c,o]·x[q·stride + k·dilation - padding, c]
//
// where elements outside of x count as 0. x is [...,h,w,c], w is [kh,kw,c,o] and y is [...,h,w,o];
// with Spatial 1 there is no h, and the height is 1. In groups, w holds the channels c of one group
// and the o of all. Floats, all dense.
type Convolution struct {
	Spatial                   int
	Stride, Padding, Dilation [2]int
	Groups                    int
	Brain                     bool // the operands, of float32, are rounded to bfloat16
}

// Conv computes y from x and w. Packed says that w was laid out by [Pack], as the matrix
// [kh·kw·c,o]; Size, which is needed for that alone, is kh and kw.
type Conv struct {
	Convolution
	Size   [2]int
	Packed bool
}

// ConvInput computes x from y and w, whose last two axes are exchanged, [kh,kw,o,c].
type ConvInput Convolution

// ConvKernel computes w from x and y. Accumulate adds it to the result.
type ConvKernel struct {
	Convolution
	Accumulate bool
}

// InPlace is false.
func (Conv) InPlace(int) bool       { return false }
func (ConvInput) InPlace(int) bool  { return false }
func (ConvKernel) InPlace(int) bool { return false }

// Strided is false, but see [ReadsThrough].
func (Conv) Strided(int) bool       { return false }
func (ConvInput) Strided(int) bool  { return false }
func (ConvKernel) Strided(int) bool { return false }

// Flops counts a product and a sum for each place of a window, whether it is inside or not.
func (Conv) Flops(out Layout, in []Layout) int64 {
	return convFlops(out, in[1].count(0, in[1].Rank-1))
}

// Flops counts as for Conv.
func (ConvInput) Flops(_ Layout, in []Layout) int64 {
	return convFlops(in[0], in[1].Len()/in[1].Dims[in[1].Rank-2])
}

// Flops counts as for Conv.
func (ConvKernel) Flops(out Layout, in []Layout) int64 {
	return convFlops(in[1], out.count(0, out.Rank-1))
}

// convFlops counts the operations of results y of so many terms each.
func convFlops(y Layout, terms int) int64 { return 2 * int64(y.Len()) * int64(terms) }

// convolved is a convolution of arrays of known sizes. The channels of a group are wc and wo.
type convolved struct {
	Convolution
	dtype          DType
	images         int
	xh, xw, xc     int
	yh, yw, yc     int
	kh, kw, wc, wo int
	packed         bool // w was laid out by Pack
}

func (k Convolution) of(x, w, y Layout) *convolved {
	g := &convolved{Convolution: k, dtype: x.DType, kh: 1, kw: w.Dims[w.Rank-3]}
	g.images, g.xh, g.xw, g.xc = planes(x, k.Spatial)
	_, g.yh, g.yw, g.yc = planes(y, k.Spatial)
	if k.Spatial == 2 {
		g.kh = w.Dims[0]
	}
	g.wc, g.wo = g.xc/k.Groups, g.yc/k.Groups
	return g
}

// planes returns the sizes of an array seen as [batch,h,w,c].
func planes(l Layout, spatial int) (n, h, w, c int) {
	n, h, w, c = l.count(0, l.Rank-1-spatial), 1, l.Dims[l.Rank-2], l.Dims[l.Rank-1]
	if spatial == 2 {
		h = l.Dims[l.Rank-3]
	}
	return n, h, w, c
}

// pointwise reports whether every pixel of x contributes to a single pixel of y: a product of
// matrices.
func (g *convolved) pointwise() bool {
	return g.kh*g.kw == 1 && g.Stride == [2]int{1, 1} && g.Padding == [2]int{} && g.Groups == 1 && g.xh == g.yh && g.xw == g.yw
}

// Divide divides along the images.
func (k Conv) Divide(out Layout, in []Layout) []Division {
	return byImages(out.Dims[:out.Rank-1-k.Spatial], true, false)
}

// Divide divides along the images.
func (k ConvInput) Divide(out Layout, in []Layout) []Division {
	return byImages(out.Dims[:out.Rank-1-k.Spatial], true, false)
}

// Divide divides along the images, each of which adds to the result.
func (k ConvKernel) Divide(_ Layout, in []Layout) []Division {
	ds := byImages(in[0].Dims[:in[0].Rank-1-k.Spatial], true, true)
	for i := range ds {
		ds[i].First, ds[i].Accumulate = ConvKernel{k.Convolution, false}, ConvKernel{k.Convolution, true}
	}
	return ds
}

// byImages divides along the axes before the spatial ones, if there are any; has tells which
// operands have them.
func byImages(dims []int, has ...bool) []Division {
	if len(dims) == 0 {
		return nil
	}
	d := Division{Dims: slices.Clone(dims)}
	for _, h := range has {
		axes := make([]int, len(dims))
		for a := range axes {
			axes[a] = a
			if !h {
				axes[a] = -1
			}
		}
		d.Axes = append(d.Axes, axes)
	}
	return []Division{d}
}

// Bind takes x and w.
func (k Conv) Bind(out Layout, in []Layout) Bound {
	x, w := in[0], in[1]
	if k.Packed {
		w = Dense(x.DType, k.Size[0], k.Size[1], x.Dims[x.Rank-1]/k.Groups, out.Dims[out.Rank-1])
	}
	g := k.of(x, w, out)
	switch {
	case !isFloat(out.DType) || k.Brain && out.DType != F32:
		panic(unsupported(k, out.DType))
	case g.pointwise():
		y, operands := g.product()
		if k.Packed {
			operands[1] = in[1]
		}
		return MatMul{Packed: k.Packed, Brain: k.Brain}.Bind(y, operands)
	case k.Brain:
		g.packed = k.Packed
		return sized(inTurn(g.roundedForward()), out, in)
	}
	c := g.forward()
	c.packed = k.Packed
	return sized(c.loop(), out, in)
}

// product returns the layouts of the product that a pointwise convolution is.
func (g *convolved) product() (y Layout, in []Layout) {
	n := g.images * g.yh * g.yw
	return Dense(g.dtype, n, g.yc), []Layout{Dense(g.dtype, n, g.xc), Dense(g.dtype, g.xc, g.yc)}
}

// PackOperand returns w as the matrix of the weights of each channel of y. Rounded weights are
// packed in pairs, none of which is of two taps, and no panel of two groups.
func (k Conv) PackOperand(in []Layout) (l Layout, ok bool) {
	w := in[1]
	ok = w.IsDense() && w.Offset == 0 && isFloat(w.DType) && (!k.Brain || k.Groups == 1 && w.Dims[w.Rank-2]%2 == 0)
	return Dense(w.DType, w.count(0, w.Rank-1), w.Dims[w.Rank-1]), ok
}

// WithPacked returns the kernel for a w that is packed.
func (k Conv) WithPacked() (Kernel, Pack) {
	k.Packed = true
	return k, Pack{Brain: k.Brain}
}

// PackPays reports whether the kernel, which copies weights that lie far apart in every run and for
// every worker, would read each copy only once.
func (k Conv) PackPays(out Layout, in []Layout, runs int) bool {
	g := k.of(in[0], in[1], out)
	if out.Len() == 0 || in[1].Len() == 0 {
		return false
	}
	if g.pointwise() {
		y, operands := g.product()
		return MatMul{Brain: k.Brain}.PackPays(y, operands, runs)
	}
	if k.Brain {
		return runs > 1
	}
	c := g.forward()
	c.loop()
	return runs > 1 && c.packs && (g.Groups == 1 || c.n%c.tile.Cols == 0)
}

// reads reports whether w, exchanged without a copy of it, may be read through its strides: where a
// product reads it, or where it is copied for the cache anyway, and then is exchanged on the way.
func (k ConvInput) reads(out Layout, in []Layout) bool {
	w := exchanged(in[1])
	if k.Brain || out.Len() == 0 || in[0].Len() == 0 || !isFloat(w.DType) || !w.IsDense() || w.Offset != 0 {
		return false
	}
	g := Convolution(k).of(out, w, in[0])
	if g.pointwise() {
		return true
	}
	c := g.backward(false)
	c.loop()
	return c.packs
}

// exchanged returns a layout with its last two axes exchanged.
func exchanged(l Layout) Layout {
	i, j := l.Rank-2, l.Rank-1
	l.Dims[i], l.Dims[j] = l.Dims[j], l.Dims[i]
	l.Strides[i], l.Strides[j] = l.Strides[j], l.Strides[i]
	return l
}

// Bind takes y and the exchanged w.
func (k ConvInput) Bind(out Layout, in []Layout) Bound {
	w, strided := exchanged(in[1]), !in[1].IsDense()
	g := Convolution(k).of(out, w, in[0])
	n := g.images * g.yh * g.yw
	switch {
	case !isFloat(out.DType) || k.Brain && out.DType != F32:
		panic(unsupported(k, out.DType))
	case strided && !k.reads(out, in):
		panic("kernel: ConvInput cannot read its weights through these strides")
	case g.pointwise():
		b := Dense(out.DType, g.yc, g.xc)
		if strided {
			b = exchanged(Dense(out.DType, g.xc, g.yc))
		}
		return MatMul{Brain: k.Brain}.Bind(Dense(out.DType, n, g.xc), []Layout{Dense(out.DType, n, g.yc), b})
	case k.Brain:
		return sized(inTurn(g.roundedBackward()...), out, in)
	}
	return sized(g.backward(strided).loop(), out, in)
}

// Bind takes x and y.
func (k ConvKernel) Bind(out Layout, in []Layout) Bound {
	g := k.of(in[0], out, in[1])
	n := g.images * g.yh * g.yw
	switch {
	case !isFloat(out.DType) || k.Brain && out.DType != F32:
		panic(unsupported(k, out.DType))
	case g.pointwise():
		x := Dense(out.DType, n, g.xc)
		x, _ = Transpose{[MaxRank]uint8{1, 0}}.View(x)
		return MatMul{Accumulate: k.Accumulate, Brain: k.Brain}.Bind(Dense(out.DType, g.xc, g.yc), []Layout{x, Dense(out.DType, n, g.yc)})
	case k.Brain:
		return sized(inTurn(g.roundedKernel(k.Accumulate)), out, in)
	case g.depthwise() && 1 < g.xc && g.xc <= stripBytes/8: // the sums of all channels lie in scratch
		return sized(g.depthwiseKernel(k.Accumulate), out, in)
	}
	return sized(g.weighing(k.Accumulate), out, in)
}

func isFloat(d DType) bool { return d == F32 || d == F64 }

// sized makes a loop panic where an array is smaller than its dense layout says: nothing else keeps
// assembly from reading out of bounds.
func sized(l Bound, out Layout, in []Layout) Bound {
	var least []int
	for _, x := range in {
		least = append(least, x.Len()*x.DType.Size())
	}
	result := out.Len() * out.DType.Size()
	return Bound{l.Units, func(c *Ctx, lo, hi int) {
		for i, n := range least {
			if c.In[i].n < n {
				panic(fmt.Sprintf("kernel: operand %d has %d bytes, fewer than %d", i, c.In[i].n, n))
			}
		}
		if c.Out.n < result {
			panic(fmt.Sprintf("kernel: the result has %d bytes, fewer than %d", c.Out.n, result))
		}
		l.Run(c, lo, hi)
	}}
}
