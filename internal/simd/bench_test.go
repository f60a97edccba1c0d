package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"
)

// peakOf returns the measured number of floating-point operations a second, the best of a few short
// runs.
func peakOf(level Level, bits int) float64 {
	f := Peak(level, bits)
	best := 0.0
	for range 20 {
		start := time.Now()
		n := f(100000)
		best = max(best, float64(n)/time.Since(start).Seconds())
	}
	return best
}

func BenchmarkTile(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, level := range levels() {
		for op, name := range contractions {
			for _, k := range []int{64, 256} {
				b.Run(fmt.Sprintf("%v/%s/%d", level, name, k), func(b *testing.B) {
					t := TileOf(level, Contraction(op), 32)
					x := random[float32](r, 200*k)
					c := random[float32](r, 32*14)
					p := func(s []float32) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
					peak := peakOf(level, 32)
					b.ResetTimer()
					for range b.N {
						t.Run(1, t.Rows, t.Cols, k, p(x), 4*k, 4, p(x[14*k:]), 4*t.Cols, p(x[100*k:]), 4*k, 4, p(c), 4*t.Cols, false, 0, 0)
					}
					f := float64(b.N) * float64(t.Rows*t.Cols*k)
					if op != int(Dot) {
						f *= 2 // two instructions instead of one
					}
					b.ReportMetric(2*100*f/b.Elapsed().Seconds()/peak, "%peak")
					b.ReportMetric(peak/1e9, "GFpeak")
				})
			}
		}
	}
}
