package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestConvKernelUnits: the work splits into more units than there are taps, and wherever it is cut,
// the bits are the same.
func TestConvKernelUnits(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for _, s := range []struct{ c, k, groups int }{{64, 3, 1}, {90, 2, 1}, {60, 1, 2}, {5, 3, 1}} {
			e := newConvExample(r, across(s.groups, s.k/2), F32, 3, 5, 6, s.c, s.k, s.k, 36)
			out := Dense(F32, e.sw...)
			c := NewCtx()
			c.Out, c.In = Alloc(4*out.Len()), []Mem{e.x.mem, e.y.mem}
			loop := ConvKernel{Convolution: e.Convolution}.Bind(out, []Layout{e.x.Layout, e.y.Layout})
			if s.c > fewChannels && loop.Units <= s.groups*s.k*s.k {
				t.Errorf("%v: %d units", s, loop.Units)
			}
			loop.Run(c, 0, loop.Units)
			want := slices.Clone(raw[float32](c.Out))
			for range 5 {
				fill(raw[float32](c.Out), 7)
				for hi := loop.Units; hi > 0; {
					lo := r.IntN(hi)
					loop.Run(c, lo, hi)
					hi = lo
				}
				if got := raw[float32](c.Out); !slices.Equal(got, want) {
					t.Fatalf("%v: other bits in parts", s)
				}
			}
		}
	})
}
