package kernel

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// MatMulInteger is the product of rows x[...,k] of bytes and a matrix w[k,n] of int8, Σ
// (x-zero)·w, in int32, which wraps around. x and zero, a number, are both U8 or both I8. All
// dense. Packed says that w was laid out by [Pack].
type MatMulInteger struct{ Packed bool }

// ConvInteger is [Conv] of bytes x, a kernel w of int8 and a number zero, as in [MatMulInteger]:
// elements outside of x count as zero. Size is that of the windows, 1 along the axis that there is
// not.
type ConvInteger struct {
	Convolution
	Size   [2]int
	Packed bool
}

// TakesNarrow reports whether a kernel takes the types for storage as they are: it moves elements
// ([Moves]), or is a product of integers.
func TakesNarrow(k Kernel) bool {
	switch k.(type) {
	case MatMulInteger, ConvInteger:
		return true
	}
	return Moves(k)
}

// InPlace is false.
func (MatMulInteger) InPlace(int) bool { return false }
func (ConvInteger) InPlace(int) bool   { return false }

// Strided is false.
func (MatMulInteger) Strided(int) bool { return false }
func (ConvInteger) Strided(int) bool   { return false }

func (MatMulInteger) multiplies() {}
func (ConvInteger) multiplies()   {}

// Flops counts 2·m·k·n.
func (MatMulInteger) Flops(out Layout, in []Layout) int64 {
	return 2 * int64(out.Len()) * int64(in[0].Dims[in[0].Rank-1])
}

// Flops counts as for Conv.
func (k ConvInteger) Flops(out Layout, in []Layout) int64 {
	return convFlops(out, k.Size[0]*k.Size[1]*in[0].Dims[in[0].Rank-1]/k.Groups)
}

// Divide divides along the rows of x.
func (MatMulInteger) Divide(out Layout, _ []Layout) []Division {
	return byImages(out.Dims[:out.Rank-1], true, false, false)
}

// Divide divides along the images.
func (k ConvInteger) Divide(out Layout, _ []Layout) []Division {
	return byImages(out.Dims[:out.Rank-1-k.Spatial], true, false, false)
}

// PackOperand returns the right operand.
func (MatMulInteger) PackOperand(in []Layout) (Layout, bool) { return in[1], true }

// PackOperand returns the kernel as a matrix of a row for each place of a window.
func (k ConvInteger) PackOperand(in []Layout) (Layout, bool) {
	w := in[1]
	return Dense(w.DType, w.count(0, w.Rank-1), w.Dims[w.Rank-1]), k.Groups == 1
}

// WithPacked returns the product with a right operand that is packed.
func (k MatMulInteger) WithPacked() (Kernel, Pack) { return MatMulInteger{Packed: true}, Pack{Taps: 1} }

// WithPacked returns the convolution with a kernel that is packed.
func (k ConvInteger) WithPacked() (Kernel, Pack) {
	k.Packed = true
	return k, Pack{Taps: k.Size[0] * k.Size[1]}
}

// PackPays reports whether several runs read the operand.
func (MatMulInteger) PackPays(_ Layout, _ []Layout, runs int) bool { return runs > 1 }

// PackPays reports whether several runs read the operand.
func (ConvInteger) PackPays(_ Layout, _ []Layout, runs int) bool { return runs > 1 }

// Work is that of the copies that the loop makes.
func (k MatMulInteger) Work(out Layout, in []Layout) int { return k.integral(out, in).work() }

// Work is that of the copies that the loop makes.
func (k ConvInteger) Work(out Layout, in []Layout) int { return k.integral(out, in).work() }

// Bind takes x, w and zero.
func (k MatMulInteger) Bind(out Layout, in []Layout) Bound {
	return bindIntegral(k, k.integral(out, in), out, in)
}

// Bind takes x, w and zero.
func (k ConvInteger) Bind(out Layout, in []Layout) Bound {
	return bindIntegral(k, k.integral(out, in), out, in)
}

func bindIntegral(k Kernel, g *integral, out Layout, in []Layout) Bound {
	x := in[0].DType
	if out.DType != I32 || x != U8 && x != I8 || in[1].DType != I8 || in[2].DType != x {
		panic(unsupported(k, x))
	}
	if out.Len() == 0 {
		return Bound{0, func(*Ctx, int, int) {}}
	}
	return sized(Bound{g.images * g.shares * g.parts, g.run}, out, in)
}

// An integral is a product of integers ready to run: a convolution, of which a product of matrices
// is the case of windows of one pixel. Pixels of the result are rows of tiles, and what a window
// reads in a row of x is a stretch of quads (see [simd.QuadReduceOf]): no window is copied. x is,
// if it has a margin, or a number of channels that fills no quads, or a sign.
type integral struct {
	Convolution
	tile   simd.BatchReduce
	size   [2]int
	signed bool
	packed bool

	images, yh, yw, yc int
	pixels             int // of an image of the result, whose last row may be shorter
	xh, xw, xc, source int // and of x
	wc, wo             int // channels of a group

	copied     bool
	row, pixel int // bytes between those of x, or of its copy
	quads      int // of a group's channels
	joined     bool
	panel      int // bytes of a packed panel

	parts, shares int // units of an image: by rows, and by panels
}

// integerRows is the number of rows of a matrix that are taken for one row of an image.
const integerRows = 112

func (k MatMulInteger) integral(out Layout, in []Layout) *integral {
	x := in[0]
	depth, n := x.Dims[x.Rank-1], out.Dims[out.Rank-1]
	m := x.count(0, x.Rank-1)
	width := max(1, min(m, integerRows))
	c := Convolution{Spatial: 2, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}
	return (&integral{
		Convolution: c, size: [2]int{1, 1}, signed: x.DType == I8, packed: k.Packed, images: 1,
		yh: blocks(m, width), yw: width, yc: n, pixels: m, xh: blocks(m, width), xw: width, xc: depth, source: m,
	}).complete()
}

func (k ConvInteger) integral(out Layout, in []Layout) *integral {
	g := &integral{Convolution: k.Convolution, size: k.Size, signed: in[0].DType == I8, packed: k.Packed}
	g.images, g.xh, g.xw, g.xc = planes(in[0], k.Spatial)
	_, g.yh, g.yw, g.yc = planes(out, k.Spatial)
	g.source, g.pixels = g.xh*g.xw, g.yh*g.yw
	return g.complete()
}

// complete fills in what follows from the sizes.
func (g *integral) complete() *integral {
	g.tile = simd.QuadReduceOf(level)
	g.wc, g.wo = g.xc/g.Groups, g.yc/g.Groups
	g.quads = blocks(g.wc, 4)
	g.copied = g.Padding != [2]int{} || g.wc%4 != 0 || g.signed || g.reach(0, g.yh) > g.xh || g.reach(1, g.yw) > g.xw
	g.pixel, g.row = g.xc, g.xw*g.xc
	if g.copied {
		g.pixel = g.Groups * g.quads * 4
		g.row = g.reach(1, g.yw) * g.pixel
	}
	g.joined = g.Groups == 1 && g.Dilation[1] == 1
	g.panel = (g.lines() + 1) * g.tile.Cols * 4
	panels := blocks(g.wo, g.tile.Cols)
	g.parts = min(g.yh, blocks(minUnits, max(1, g.images)))
	g.shares = 1
	if g.Groups == 1 {
		g.shares = min(panels, blocks(minUnits, max(1, g.images*g.parts)))
	}
	return g
}

// reach returns how many elements n windows read along an axis, with the margin before.
func (g *integral) reach(axis, n int) int {
	return max(0, (n-1)*g.Stride[axis]+g.Dilation[axis]*(g.size[axis]-1)+1)
}

// lines returns the quads of a column of a group's weights.
func (g *integral) lines() int { return g.size[0] * g.size[1] * g.quads }

// work returns the bytes of the copies of an image and of a panel, and of a row of corrections.
func (g *integral) work() int { return g.copy() + g.panel + g.tile.Cols*4 }

func (g *integral) copy() int {
	if !g.copied {
		return 0
	}
	return blocks(g.reach(0, g.yh)*g.row, alignment) * alignment
}

// run does units in the order of images, shares of panels, and parts of rows.
func (g *integral) run(c *Ctx, lo, hi int) {
	r := integrating{integral: g, x: at(c.In[0], 0), w: at(c.In[1], 0), y: at(c.Out, 0), zero: raw[byte](c.In[2])[0]}
	if g.signed {
		r.zero ^= 0x80
	}
	work := c.working(g.work())
	r.room, r.panelRoom, r.correction = at(work, 0), at(work, g.copy()), raw[int32](work.Slice(g.copy()+g.panel, g.tile.Cols*4))
	panels := blocks(g.wo, g.tile.Cols)
	for lo < hi {
		share, part := lo/g.parts%g.shares, lo%g.parts
		end := min(g.parts, part+hi-lo) // the parts of a share read panels once
		r.area(lo/g.parts/g.shares, part*g.yh/g.parts, end*g.yh/g.parts, share*panels/g.shares, (share+1)*panels/g.shares)
		lo += end - part
	}
}

// integrating is an integral with its memory.
type integrating struct {
	*integral
	x, w, y         *byte
	zero            byte // as x has it without a sign
	room, panelRoom *byte
	correction      []int32
}

// area computes rows [row,end) of an image by some panels of weights.
func (r *integrating) area(image, row, end, panel, panels int) {
	x, first := move(r.x, image*r.source*r.xc), row*r.Stride[0]
	if r.copied {
		r.copyRows(x, first, first+r.reach(0, end-row))
		x = r.room
	} else {
		x = move(x, first*r.row)
	}
	for g := range r.Groups {
		for p := panel; p < panels; p++ {
			j := p * r.tile.Cols
			cols := min(r.tile.Cols, r.wo-j)
			w := r.weights(g, j, cols)
			for i := row; i < end; i++ {
				at := i * r.yw
				y := move(r.y, ((image*r.pixels+at)*r.yc+g*r.wo+j)*4)
				r.pixelsOf(move(x, (i-row)*r.Stride[0]*r.row+g*r.quads*4), w, y, min(r.yw, r.pixels-at), cols)
			}
		}
	}
}

// weights returns a panel, which it packs if that is not done, and lays out what zero adds to a
// result.
func (r *integrating) weights(group, j, cols int) *byte {
	w := r.panelRoom
	if r.packed {
		w = move(r.w, j/r.tile.Cols*r.panel)
	} else {
		packQuads(r.tile, w, move(r.w, group*r.wo+j), r.yc, r.size[0]*r.size[1], r.wc, cols)
	}
	if r.zero != 0 {
		sums := unsafe.Slice((*int32)(unsafe.Pointer(move(w, r.lines()*r.tile.Cols*4))), cols)
		for i, s := range sums {
			r.correction[i] = -int32(r.zero) * s
		}
	}
	return w
}

// packQuads lays a panel of weights out, with rows row bytes apart, of depth rows for each tap, and
// behind it the sums of its columns.
func packQuads(tile simd.BatchReduce, dst, src *byte, row, taps, depth, cols int) {
	if depth%4 == 0 {
		taps, depth = 1, taps*depth
	}
	quads, width := blocks(depth, 4), tile.Cols*4
	for t := range taps {
		simd.QuadPanel(level, move(dst, t*quads*width), tile.Cols, move(src, t*depth*row), row, depth, cols)
	}
	tile.Run(1, cols, taps*quads, 1, &ones[0], 0, 0, 0, dst, width, 0, move(dst, taps*quads*width), width, false)
}

var ones = [4]byte{1, 1, 1, 1}

// pixelsOf computes some pixels of a row, and some of their channels.
func (r *integrating) pixelsOf(x, w, y *byte, pixels, cols int) {
	accumulate := r.zero != 0
	if accumulate {
		for i := range pixels {
			copy(unsafe.Slice((*int32)(unsafe.Pointer(move(y, i*r.yc*4))), cols), r.correction)
		}
	}
	step, width := r.Stride[1]*r.pixel, r.tile.Cols*4
	for tiles := blocks(pixels, r.tile.Rows); tiles > 0; tiles-- {
		rows := pixels / tiles
		if r.joined {
			k := r.size[1] * r.quads
			r.tile.Run(rows, cols, k, r.size[0], x, step, 4, r.Dilation[0]*r.row, w, width, k*width, y, r.yc*4, accumulate)
		} else {
			for t := range r.size[1] {
				r.tile.Run(rows, cols, r.quads, r.size[0], move(x, t*r.Dilation[1]*r.pixel), step, 4, r.Dilation[0]*r.row,
					move(w, t*r.quads*width), width, r.size[1]*r.quads*width, y, r.yc*4, accumulate || t > 0)
			}
		}
		if pixels -= rows; pixels > 0 {
			x, y = move(x, rows*step), move(y, rows*r.yc*4)
		}
	}
}

// copyRows copies rows [from,to) of an image, counted from the margin's first, without a sign and
// with whole quads for the channels of each group. What is outside becomes zero.
func (r *integrating) copyRows(image *byte, from, to int) {
	for i := from; i < to; i++ {
		dst := unsafe.Slice(move(r.room, (i-from)*r.row), r.row)
		at := i - r.Padding[0]
		left := min(r.Padding[1], r.row/r.pixel)
		n := 0 // pixels that are inside
		if at >= 0 && at < r.xh {
			n = max(0, min(r.xw, r.source-at*r.xw, r.row/r.pixel-left))
		}
		if n == 0 {
			left = 0
		}
		repeat(dst[:left*r.pixel], r.zero)
		if n > 0 {
			r.copyPixels(dst[left*r.pixel:], unsafe.Slice(move(image, at*r.xw*r.xc), n*r.xc))
		}
		repeat(dst[(left+n)*r.pixel:], r.zero)
	}
}

func (r *integrating) copyPixels(dst, src []byte) {
	n := len(src)
	switch {
	case r.wc%4 == 0:
		copy(dst, src)
	case r.wc == 3:
		n = n / 3 * 4
		for i := 0; i < n; i, src = i+4, src[3:] {
			dst[i], dst[i+1], dst[i+2], dst[i+3] = src[0], src[1], src[2], 0
		}
	default:
		whole := r.quads * 4
		n = n / r.wc * whole
		for i := 0; i < n; i, src = i+whole, src[r.wc:] {
			clear(dst[i+copy(dst[i:i+whole], src[:r.wc]) : i+whole])
		}
	}
	if r.signed {
		for i := range dst[:n] {
			dst[i] ^= 0x80
		}
	}
}

// repeat sets all of dst to a byte.
func repeat(dst []byte, v byte) {
	clear(dst)
	if v == 0 || len(dst) == 0 {
		return
	}
	dst[0] = v
	for done := 1; done < len(dst); done *= 2 {
		copy(dst[done:], dst[:done])
	}
}
