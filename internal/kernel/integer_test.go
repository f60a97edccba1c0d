package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// byteAt returns element i of memory of U8 or I8.
func byteAt(m Mem, dt DType, i int) int32 {
	if dt == I8 {
		return int32(As[int8](m)[i])
	}
	return int32(As[uint8](m)[i])
}

// bytesOf returns random memory, with the ends of the range in it.
func bytesOf(r *rand.Rand, n int) Mem {
	x := make([]uint8, n)
	for i := range x {
		x[i] = uint8(r.Uint32())
		if r.IntN(4) == 0 {
			x[i] = []uint8{0, 127, 128, 255}[r.IntN(4)]
		}
	}
	return Of(x)
}

// sumsOfIntegers is the definition of ConvInteger.
func sumsOfIntegers(k ConvInteger, dt DType, x, w, zero Mem, lx, ly Layout) []int32 {
	images, xh, xw, xc := planes(lx, k.Spatial)
	_, yh, yw, yc := planes(ly, k.Spatial)
	y := make([]int32, ly.Len())
	wc, wo := xc/k.Groups, yc/k.Groups
	for p := range y {
		image, i, j, o := p/(yh*yw*yc), p/(yw*yc)%yh, p/yc%yw, p%yc
		for t := range k.Size[0] * k.Size[1] {
			a, b := i*k.Stride[0]+t/k.Size[1]*k.Dilation[0]-k.Padding[0], j*k.Stride[1]+t%k.Size[1]*k.Dilation[1]-k.Padding[1]
			if image >= images || a < 0 || a >= xh || b < 0 || b >= xw {
				continue
			}
			for c := range wc {
				q := byteAt(x, dt, ((image*xh+a)*xw+b)*xc+o/wo*wc+c) - byteAt(zero, dt, 0)
				y[p] += q * byteAt(w, I8, (t*wc+c)*yc+o)
			}
		}
	}
	return y
}

func sameIntegers(t *testing.T, k Kernel, in []Layout, got, want []int32) {
	t.Helper()
	for i, v := range got {
		if v != want[i] {
			t.Fatalf("%+v of %v and %v: element %d is %d, want %d", k, in[0].shape(), in[1].shape(), i, v, want[i])
		}
	}
}

// holdsIntegers runs a kernel whole, unit by unit from the last on, and with its weights packed.
func holdsIntegers(t *testing.T, k PackReader, ly Layout, in []Layout, mem []Mem, want []int32) {
	t.Helper()
	c := NewCtx()
	for _, backwards := range []bool{false, true} {
		y := Alloc(ly.Len() * 4)
		c.Out, c.In = y, mem
		b := k.Bind(ly, in)
		if backwards {
			for u := b.Units - 1; u >= 0; u-- {
				b.Run(c, u, u+1)
			}
		} else {
			b.Run(c, 0, b.Units)
		}
		sameIntegers(t, k, in, As[int32](y), want)
	}
	l, ok := k.PackOperand(in)
	if !ok {
		return
	}
	reader, pack := k.WithPacked()
	lp := Dense(I8, pack.Len(I8, l.Dims[0], l.Dims[1]))
	p, y := Alloc(lp.Len()), Alloc(ly.Len()*4)
	c.Out, c.In = p, mem[1:2]
	b := pack.Bind(lp, []Layout{l})
	b.Run(c, 0, b.Units)
	c.Out, c.In = y, []Mem{mem[0], p, mem[2]}
	b = reader.Bind(ly, []Layout{in[0], lp, in[2]})
	b.Run(c, 0, b.Units)
	sameIntegers(t, reader, in, As[int32](y), want)
}

func TestConvInteger(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 120 {
		k := ConvInteger{Convolution: Convolution{Spatial: 1 + r.IntN(2), Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1 + r.IntN(2)*r.IntN(3)}, Size: [2]int{1, 1 + r.IntN(3)}}
		k.Stride[1], k.Dilation[1], k.Padding[1] = 1+r.IntN(2), 1+r.IntN(3)/2, r.IntN(3)
		h, after := 1, 0
		if k.Spatial == 2 {
			k.Size[0], k.Stride[0], k.Dilation[0], k.Padding[0] = 1+r.IntN(3), 1+r.IntN(2), 1+r.IntN(3)/2, r.IntN(3)
			h, after = k.Dilation[0]*(k.Size[0]-1)+1+r.IntN(4), r.IntN(2)
		}
		w := k.Dilation[1]*(k.Size[1]-1) + 1 + r.IntN(20)
		c, o := k.Groups*(1+r.IntN(5)), k.Groups*(1+r.IntN(9))
		if n%8 == 0 {
			c, o = k.Groups*4, k.Groups*33
		}
		yh, yw := 1, (w+2*k.Padding[1]-k.Dilation[1]*(k.Size[1]-1)-1)/k.Stride[1]+1
		if k.Spatial == 2 {
			yh = (h+k.Padding[0]+after-k.Dilation[0]*(k.Size[0]-1)-1)/k.Stride[0] + 1
		}
		dt := []DType{U8, I8}[r.IntN(2)]
		images := 1 + r.IntN(2)
		lx, lw, ly := Dense(dt, images, h, w, c), Dense(I8, k.Size[0], k.Size[1], c/k.Groups, o), Dense(I32, images, yh, yw, o)
		if k.Spatial == 1 {
			lx, lw, ly = Dense(dt, images, w, c), Dense(I8, k.Size[1], c/k.Groups, o), Dense(I32, images, yw, o)
		}
		mem := []Mem{bytesOf(r, lx.Len()), bytesOf(r, lw.Len()), Of([]uint8{uint8(r.IntN(256) * r.IntN(2))})}
		want := sumsOfIntegers(k, dt, mem[0], mem[1], mem[2], lx, ly)
		holdsIntegers(t, k, ly, []Layout{lx, lw, Dense(dt)}, mem, want)
	}
}

func TestMatMulInteger(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][3]int{{1, 1, 1}, {1, 64, 100}, {3, 5, 2}, {2, 4, 33}, {113, 6, 5}, {57, 12, 40}, {230, 3, 17}} {
		m, depth, n := size[0], size[1], size[2]
		for _, dt := range []DType{U8, I8} {
			mem := []Mem{bytesOf(r, m*depth), bytesOf(r, depth*n), Of([]uint8{uint8(r.IntN(256) * r.IntN(2))})}
			whole := ConvInteger{Convolution: Convolution{Spatial: 1, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}, Size: [2]int{1, 1}}
			want := sumsOfIntegers(whole, dt, mem[0], mem[1], mem[2], Dense(dt, m, depth), Dense(I32, m, n))
			holdsIntegers(t, MatMulInteger{}, Dense(I32, m, n), []Layout{Dense(dt, m, depth), Dense(I8, depth, n), Dense(dt)}, mem, want)
		}
	}
}

// TestIntegersWrapAround: 70 000 products of the greatest numbers are more than int32 holds.
func TestIntegersWrapAround(t *testing.T) {
	const depth = 70000
	x, w := slices.Repeat([]uint8{255}, depth), slices.Repeat([]int8{-128}, depth)
	total := int64(depth) * 255 * -128
	holdsIntegers(t, MatMulInteger{}, Dense(I32, 1, 1), []Layout{Dense(U8, 1, depth), Dense(I8, depth, 1), Dense(U8)},
		[]Mem{Of(x), Of(w), Of([]uint8{0})}, []int32{int32(total)})
}

// BenchmarkIntegers has the convolutions of ResNet-18, in bytes and in float32.
func BenchmarkIntegers(b *testing.B) {
	for _, s := range []struct {
		name                  string
		h, c, o, taps, stride int
	}{
		{"first", 224, 3, 64, 7, 2}, {"56×56×64", 56, 64, 64, 3, 1}, {"28×28×128", 28, 128, 128, 3, 1}, {"14×14×256", 14, 256, 256, 3, 1},
		{"7×7×512", 7, 512, 512, 3, 1}, {"56×56 to 28×28", 56, 64, 128, 3, 2}, {"shortcut", 28, 128, 256, 1, 2},
	} {
		p := s.taps / 2
		k := Convolution{2, [2]int{s.stride, s.stride}, [2]int{p, p}, [2]int{1, 1}, 1, false}
		q := (s.h+2*p-s.taps)/s.stride + 1
		run := func(name string, k Kernel, ly Layout, in ...Layout) {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				c := NewCtx()
				for _, l := range in {
					c.In = append(c.In, Alloc(l.Len()*l.DType.Size()))
				}
				c.Out = Alloc(ly.Len() * ly.DType.Size())
				bound := k.Bind(ly, in)
				for b.Loop() {
					bound.Run(c, 0, bound.Units)
				}
				b.ReportMetric(float64(k.Flops(ly, in))*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
			})
		}
		run("float32", Conv{Convolution: k}, Dense(F32, 1, q, q, s.o), Dense(F32, 1, s.h, s.h, s.c), Dense(F32, s.taps, s.taps, s.c, s.o))
		i := ConvInteger{Convolution: k, Size: [2]int{s.taps, s.taps}}
		x, w := Dense(U8, 1, s.h, s.h, s.c), Dense(I8, s.taps, s.taps, s.c, s.o)
		run("int8", i, Dense(I32, 1, q, q, s.o), x, w, Dense(U8))
		reader, pack := i.WithPacked()
		run("int8 packed", reader, Dense(I32, 1, q, q, s.o), x, Dense(I8, pack.Len(I8, s.taps*s.taps*s.c, s.o)), Dense(U8))
	}
}
