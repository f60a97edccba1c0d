package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

// convExample is a convolution with its operands and the results by the definition.
type convExample struct {
	Convolution
	sx, sw, sy []int
	x, w, y    array
	v          array // w with its last two axes exchanged
	dx, dw, dy []float64
	tx, tw, ty float64 // tolerances
}

// across returns a convolution over two axes with the same padding.
func across(groups, padding int) Convolution {
	return Convolution{2, [2]int{1, 1}, [2]int{padding, padding}, [2]int{1, 1}, groups, false}
}

// newConvExample draws operands of n images.
func newConvExample(r *rand.Rand, k Convolution, dt DType, n, h, w, c, kh, kw, o int) *convExample {
	out := func(axis, size, taps int) int {
		return (size+2*k.Padding[axis]-(taps-1)*k.Dilation[axis]-1)/k.Stride[axis] + 1
	}
	yh, yw := out(0, h, kh), out(1, w, kw)
	e := &convExample{Convolution: k, sx: []int{n, h, w, c}, sw: []int{kh, kw, c / k.Groups, o}, sy: []int{n, yh, yw, o}}
	if k.Spatial == 1 {
		e.sx, e.sw, e.sy = []int{n, w, c}, []int{kw, c / k.Groups, o}, []int{n, yw, o}
	}
	draw := func(dims []int) array { return styled(r, styleDense, dt, plain, dims...) }
	e.x, e.w, e.y = draw(e.sx), draw(e.sw), draw(e.sy)
	wc, wo := c/k.Groups, o/k.Groups
	sv := append([]int(nil), e.sw...)
	m := len(sv)
	sv[m-2], sv[m-1] = o, wc
	e.v = draw(sv)
	e.dx, e.dw, e.dy = make([]float64, n*h*w*c), make([]float64, kh*kw*wc*o), make([]float64, n*yh*yw*o)
	values := func(a array) []float64 {
		v := make([]float64, a.Len())
		for p := range v {
			v[p] = element(dt, a.mem, p)
		}
		return v
	}
	vx, vw, vy := values(e.x), values(e.w), values(e.y)
	for p := range kh * kw * wc * o {
		tap, ch, out := p/(wc*o), p/o%wc, p%o
		set(dt, e.v.mem, (tap*o+out)*wc+ch, vw[p])
	}
	if k.Brain {
		for _, v := range [][]float64{vx, vw, vy} {
			for p := range v {
				v[p] = half.RoundBrain(v[p])
			}
		}
	}
	for p := range e.dy {
		b, i, j, q := p/(yh*yw*o), p/(yw*o)%yh, p/o%yw, p%o
		for t := range kh * kw {
			a, b2 := i*k.Stride[0]+t/kw*k.Dilation[0]-k.Padding[0], j*k.Stride[1]+t%kw*k.Dilation[1]-k.Padding[1]
			if a < 0 || a >= h || b2 < 0 || b2 >= w {
				continue
			}
			for ch := range wc {
				px, pw := ((b*h+a)*w+b2)*c+q/wo*wc+ch, (t*wc+ch)*o+q
				e.dy[p] += vx[px] * vw[pw]
				e.dx[px] += vy[p] * vw[pw]
				e.dw[pw] += vy[p] * vx[px]
			}
		}
	}
	eps := 0x1p-22
	if dt == F64 {
		eps = 0x1p-51
	}
	e.ty, e.tx, e.tw = 100*eps*float64(kh*kw*wc), 100*eps*float64(kh*kw*wo), 100*eps*float64(n*yh*yw)
	return e
}

// check runs the three kernels.
func (e *convExample) check(t *testing.T) {
	t.Helper()
	in := func(l []int, values []float64) func(ix []int) float64 {
		return func(ix []int) float64 {
			p := 0
			for a, i := range ix {
				p = p*l[a] + i
			}
			return values[p]
		}
	}
	check(t, Conv{Convolution: e.Convolution}, e.x.DType, e.sy, []array{e.x, e.w}, e.ty, in(e.sy, e.dy))
	check(t, ConvInput(e.Convolution), e.x.DType, e.sx, []array{e.y, e.v}, e.tx, in(e.sx, e.dx))
	check(t, ConvKernel{Convolution: e.Convolution}, e.x.DType, e.sw, []array{e.x, e.y}, e.tw, in(e.sw, e.dw))
}

// TestConvolutions: random sizes, strides, paddings, dilations and groups against the definition.
func TestConvolutions(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		few := func(most int) int { return 1 + r.IntN(most) }
		for trial := range 300 {
			k := across(1, 1)
			k.Spatial, k.Stride[1], k.Padding[1], k.Dilation[1] = 1+r.IntN(2), few(3), r.IntN(4), few(3)
			kh, kw, h := 1, few(4), 1
			if k.Padding[0] = 0; k.Spatial == 2 {
				k.Stride[0], k.Padding[0], k.Dilation[0] = few(3), r.IntN(4), few(3)
				kh = few(4)
				h = max(1, (kh-1)*k.Dilation[0]+1-2*k.Padding[0]) + r.IntN(6)
			}
			w := max(1, (kw-1)*k.Dilation[1]+1-2*k.Padding[1]) + r.IntN(20)
			c, o := few(9), few(40)
			if trial%3 == 0 {
				k.Groups = few(4)
				c, o = k.Groups*few(4), k.Groups*few(4)
			}
			if trial%5 == 0 {
				c, o = few(40), few(3)
				k.Groups = 1
			}
			dt := []DType{F32, F64}[trial%2]
			k.Brain = dt == F32 && trial%4 == 0
			newConvExample(r, k, dt, few(3), h, w, c, kh, kw, o).check(t)
		}
	})
}

// TestDepthwise: as many groups as channels, and more channels than a tile of scratch has.
func TestDepthwise(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for trial, c := range []int{1, 3, 17, 64, tileLen + 5} {
			k := across(c, 1)
			k.Stride[0], k.Padding[1], k.Dilation[1] = 1+trial%2, trial, 1+trial%3
			newConvExample(r, k, []DType{F32, F64}[trial%2], 2, 4, 6, c, 3, 2, c).check(t)
			if k.Brain = c == 17; k.Brain {
				newConvExample(r, k, F32, 2, 4, 6, c, 3, 2, c).check(t)
			}
		}
	})
}

// TestManyWeights: so many that they are read once for all images, and copied, in more than one
// part.
func TestManyWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	k := across(1, 1)
	k.Padding[1] = 0
	parts := newConvExample(r, k, F64, 2, 6, 10, 1100, 4, 1, 130)
	k.Groups = 2
	groups := newConvExample(r, k, F32, 2, 12, 6, 260, 2, 2, 264)
	k.Groups, k.Brain, k.Stride[1] = 1, true, 2
	rounded := newConvExample(r, k, F32, 1, 4, 5, 803, 1, 2, 17)
	atLevels(t, func(t *testing.T) {
		rounded.check(t)
		parts.check(t)
		groups.check(t)
	})
}

// TestPackedWeights: weights that were laid out beforehand give the same bits, also where there is
// room for some rows of taps alone, and only where they would be copied does that pay.
func TestPackedWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	one := across(1, 1)
	two := across(2, 0)
	two.Stride = [2]int{2, 1}
	rounded := one
	rounded.Brain = true
	line := Convolution{1, [2]int{1, 1}, [2]int{0, 2}, [2]int{1, 1}, 1, false}
	for _, e := range []struct {
		*convExample
		pays bool // on AVX-512
	}{
		{newConvExample(r, one, F32, 2, 6, 9, 5, 3, 3, 70), false},
		{newConvExample(r, one, F64, 1, 9, 9, 3, 2, 3, 150), true},
		{newConvExample(r, one, F64, 1, 5, 8, 1100, 4, 1, 130), true},
		{newConvExample(r, two, F32, 1, 7, 6, 6, 3, 2, 64), false},
		{newConvExample(r, across(1, 0), F32, 2, 4, 4, 40, 1, 1, 33), false},
		{newConvExample(r, line, F32, 3, 1, 9, 4, 1, 4, 40), false},
		{newConvExample(r, rounded, F32, 2, 6, 9, 6, 3, 3, 70), true},
		{newConvExample(r, rounded, F32, 1, 3, 5, 804, 2, 2, 33), true},
	} {
		atLevels(t, func(t *testing.T) {
			k := Conv{Convolution: e.Convolution, Size: [2]int{1, e.sw[0]}}
			if e.Spatial == 2 {
				k.Size = [2]int{e.sw[0], e.sw[1]}
			}
			dt, in := e.x.DType, []Layout{e.x.Layout, e.w.Layout}
			out := Dense(dt, e.sy...)
			if pays := k.PackPays(out, in, 2); level == simd.AVX512 && pays != e.pays || k.PackPays(out, in, 1) {
				t.Errorf("packing %v pays: %v, want %v", e.sw, pays, e.pays)
			}
			run := func(k Kernel, out Layout, layouts []Layout, in ...Mem) Mem {
				c := NewCtx()
				c.Out, c.In = Alloc(out.Len()*dt.Size()), in
				b := k.Bind(out, layouts)
				b.Run(c, 0, b.Units)
				return c.Out
			}
			l, ok := k.PackOperand(in)
			packed, pack := k.WithPacked()
			if !ok {
				t.Fatalf("%v cannot be packed", e.sw)
			}
			panels := Dense(dt, pack.Len(dt, l.Dims[0], l.Dims[1]))
			laid := run(pack, panels, []Layout{l}, e.w.mem)
			want, got := run(k, out, in, e.x.mem, e.w.mem), run(packed, out, []Layout{in[0], panels}, e.x.mem, laid)
			for p := range out.Len() {
				if x, y := element(dt, want, p), element(dt, got, p); x != y {
					t.Fatalf("%v: element %d is %v, want %v", e.sw, p, y, x)
				}
			}
		})
	}
}

// TestConvKernelAccumulates: the sum is added to what the result holds.
func TestConvKernelAccumulates(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range []struct{ c, k, groups int }{{2, 3, 1}, {10, 2, 1}, {4, 1, 1}, {4, 3, 2}, {4, 3, 4}} {
		k := across(s.groups, s.k/2)
		e := newConvExample(r, k, F64, 2, 5, 6, s.c, s.k, s.k, 4)
		kernel := ConvKernel{k, true}
		out := Dense(F64, e.sw...)
		c := NewCtx()
		c.Out, c.In = Alloc(8*out.Len()), []Mem{e.x.mem, e.y.mem}
		fill(raw[float64](c.Out), 5)
		loop := kernel.Bind(out, []Layout{e.x.Layout, e.y.Layout})
		for u := range loop.Units { // in the reverse order
			loop.Run(c, loop.Units-1-u, loop.Units-u)
		}
		for p, got := range raw[float64](c.Out) {
			if !same(got, 5+e.dw[p], e.tw) {
				t.Fatalf("%v: element %d is %v, want %v", s, p, got, 5+e.dw[p])
			}
		}
	}
}

// TestConvDivides: images one by one give the same bits as all at once, and the contributions to
// the weights add up.
func TestConvDivides(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	k := across(1, 1)
	k.Stride[0] = 2
	e := newConvExample(r, k, F32, 4, 7, 6, 5, 3, 3, 18)
	rounded := k
	rounded.Brain = true
	for _, c := range []struct {
		Kernel
		out []int
		in  []array
	}{
		{Conv{Convolution: k}, e.sy, []array{e.x, e.w}},
		{ConvInput(k), e.sx, []array{e.y, e.v}},
		{ConvKernel{Convolution: k}, e.sw, []array{e.x, e.y}},
		{Conv{Convolution: rounded}, e.sy, []array{e.x, e.w}},
		{ConvInput(rounded), e.sx, []array{e.y, e.v}},
		{ConvKernel{Convolution: rounded}, e.sw, []array{e.x, e.y}},
	} {
		t.Run(fmt.Sprintf("%T rounded=%v", c.Kernel, Rounds(c.Kernel)), func(t *testing.T) { checkDivision(t, c.Kernel, F32, c.out, c.in, 1e-4) })
	}
}

// checkDivision runs a kernel in blocks of one row, as each of its divisions says, and compares
// with a run of all.
func checkDivision(t *testing.T, k Kernel, dt DType, dims []int, in []array, tol float64) {
	t.Helper()
	out := Dense(dt, dims...)
	var layouts []Layout
	whole := NewCtx()
	whole.Out = Alloc(out.Len() * dt.Size())
	for _, a := range in {
		layouts, whole.In = append(layouts, a.Layout), append(whole.In, a.mem)
	}
	loop := k.Bind(out, layouts)
	loop.Run(whole, 0, loop.Units)
	divisions := k.(Divider).Divide(out, layouts)
	if len(divisions) == 0 {
		t.Fatal("it does not divide")
	}
	for _, d := range divisions {
		n, sums := d.Dims[0], d.Sums()
		if d.Outer > 0 {
			n = sums * d.Dims[d.Outer]
		}
		c := NewCtx()
		c.Out = Alloc(out.Len() * dt.Size())
		for p := range out.Len() { // which the first block of a fold does not read
			set(dt, c.Out, p, math.NaN())
		}
		for row := range n {
			blocks := make([]Layout, len(in))
			c.In = c.In[:0]
			for i, a := range in {
				r, ok := d.Rows(a.Layout, i, n)
				if !ok {
					t.Fatalf("operand %d does not divide into %d rows", i, n)
				}
				blocks[i] = r.Layout(1)
				c.In = append(c.In, a.mem.From(r.At(row)*dt.Size()))
			}
			if d.Accumulate != nil {
				fold := d.Accumulate
				if row%(n/sums) == 0 {
					fold = d.First
				}
				all := c.Out
				c.Out = all.From(row / (n / sums) * out.Len() / sums * dt.Size())
				loop := fold.Bind(d.Sum(out), blocks)
				loop.Run(c, 0, loop.Units)
				c.Out = all
				continue
			}
			r, ok := d.Rows(out, -1, n)
			if !ok {
				t.Fatalf("the result does not divide into %d rows", n)
			}
			all := c.Out
			c.Out = all.From(r.At(row) * dt.Size())
			loop := k.Bind(r.Layout(1), blocks)
			loop.Run(c, 0, loop.Units)
			c.Out = all
		}
		for p := range out.Len() {
			got, want := element(dt, c.Out, p)/float64(max(1, d.Over)), element(dt, whole.Out, p)
			if d.Accumulate == nil && got != want || !same(got, want, tol) {
				t.Fatalf("element %d is %v in rows and %v at once", p, got, want)
			}
		}
	}
}

// TestConvInputReadsThrough: weights that lie as the convolution takes them give the values by the
// definition. They are taken where a product reads them or they are copied for the cache, and not
// where they are read in place or begin elsewhere.
func TestConvInputReadsThrough(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, s := range []struct {
			c, o, size, taps, stride, groups int
			takes                            bool
		}{
			{300, 40, 9, 3, 1, 1, true}, {257, 70, 10, 3, 2, 1, true}, {520, 64, 9, 3, 1, 2, true}, {40, 30, 9, 1, 1, 1, true},
			{40, 30, 9, 3, 1, 1, false}, {600, 6, 9, 3, 1, 6, false}, {300, 40, 2, 3, 1, 1, false},
		} {
			for _, dt := range []DType{F32, F64} {
				k := across(s.groups, s.taps/2)
				k.Stride = [2]int{s.stride, s.stride}
				e := newConvExample(r, k, dt, 2, s.size, s.size, s.c, s.taps, s.taps, s.o)
				through := array{exchanged(e.w.Layout), e.w.mem}
				out := Dense(dt, e.sx...)
				if takes := ReadsThrough(ConvInput(k), 1, out, []Layout{e.y.Layout, through.Layout}); takes != s.takes {
					t.Errorf("%v of %v: reads through strides: %v", s, dt, takes)
				}
				gap := through.Layout
				gap.Offset = 1
				if ReadsThrough(ConvInput(k), 1, out, []Layout{e.y.Layout, gap}) || ReadsThrough(ConvInput(k), 0, out, []Layout{through.Layout, through.Layout}) {
					t.Errorf("%v of %v: reads any strides", s, dt)
				}
				if !s.takes {
					continue
				}
				check(t, ConvInput(k), dt, e.sx, []array{e.y, through}, e.tx, func(ix []int) float64 {
					p := 0
					for a, i := range ix {
						p = p*e.sx[a] + i
					}
					return e.dx[p]
				})
			}
		}
	})
}
