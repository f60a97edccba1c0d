package kernel

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkConvRounded compares convolutions of operands rounded to bfloat16 with those of float32.
func BenchmarkConvRounded(b *testing.B) {
	for _, s := range []struct{ n, size, c, k, o, stride, groups int }{
		{1, 56, 64, 3, 64, 1, 1}, {1, 28, 128, 3, 128, 1, 1}, {1, 14, 256, 3, 256, 1, 1}, {1, 7, 512, 3, 512, 1, 1}, {8, 7, 512, 3, 512, 1, 1},
		{1, 56, 64, 1, 256, 1, 1}, {1, 56, 64, 3, 128, 2, 1}, {1, 56, 64, 1, 128, 2, 1}, {1, 28, 128, 3, 256, 2, 1}, {1, 28, 64, 3, 64, 1, 4}, {1, 28, 32, 3, 32, 1, 1}, {1, 28, 16, 3, 16, 1, 1}, {1, 112, 4, 7, 64, 2, 1},
	} {
		k := across(s.groups, s.k/2)
		k.Stride = [2]int{s.stride, s.stride}
		r := k
		r.Brain = true
		y := (s.size-1)/s.stride + 1
		lx, ly := Dense(F32, s.n, s.size, s.size, s.c), Dense(F32, s.n, y, y, s.o)
		lw, lv := Dense(F32, s.k, s.k, s.c/s.groups, s.o), Dense(F32, s.k, s.k, s.o, s.c/s.groups)
		for _, c := range []struct {
			name string
			ways [2]Kernel
			out  Layout
			in   []Layout
		}{
			{"forward", [2]Kernel{Conv{Convolution: k}, Conv{Convolution: r}}, ly, []Layout{lx, lw}},
			{"input", [2]Kernel{ConvInput(k), ConvInput(r)}, lx, []Layout{ly, lv}},
			{"weights", [2]Kernel{ConvKernel{Convolution: k}, ConvKernel{Convolution: r}}, lw, []Layout{lx, ly}},
		} {
			b.Run(fmt.Sprint(s, c.name), func(b *testing.B) {
				var least [2]float64
				x := NewCtx()
				for _, l := range c.in {
					m := Alloc(l.Len() * 4)
					for j := range l.Len() {
						set(F32, m, j, Random{Key: 3, Law: LawNormal}.Draw(F32, 1, 0, uint64(j)))
					}
					x.In = append(x.In, m)
				}
				x.Out = Alloc(c.out.Len() * 4)
				for b.Loop() {
					for i, k := range c.ways {
						loop := k.Bind(c.out, c.in)
						start := time.Now()
						loop.Run(x, 0, loop.Units)
						if t := time.Since(start).Seconds() * 1e6; least[i] == 0 || t < least[i] {
							least[i] = t
						}
					}
				}
				b.ReportMetric(least[0], "f32-µs")
				b.ReportMetric(least[1], "bf16-µs")
				b.ReportMetric(least[1]/least[0], "ratio")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
