package kernel

import (
	"fmt"
	"sort"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// A form says which operands of a product are transposed views.
var forms = []string{"NN", "NT", "TN", "TT"}

func matrixLayout(dt DType, rows, cols int, transposed bool) Layout {
	l := Dense(dt, rows, cols)
	if transposed {
		l.Strides[0], l.Strides[1] = 1, rows
	}
	return l
}

// benchProduct reports the median time of a run as a share of the peak of multiply-adds; terms is
// how many of those a vector of terms costs at least.
func benchProduct(b *testing.B, l simd.Level, k producer, out Layout, in []Layout, terms int) {
	defer func(old simd.Level) { level = old }(level)
	level = l
	p, loop := k.product(out, in), k.Bind(out, in)
	c := NewCtx()
	for i, l := range in {
		m := Alloc(l.reach() * l.DType.Size())
		for j := range l.reach() {
			set(l.DType, m, j, Random{Key: uint64(i), Law: LawNormal}.Draw(F32, 1, 0, uint64(j)))
		}
		c.In = append(c.In, m)
	}
	c.Out = Alloc(out.Len() * out.DType.Size())
	flops := 2 * float64(p.batches*p.m*p.n*p.k) * float64(terms)
	loop.Run(c, 0, loop.Units)
	peak := simd.Peak(l, 8*out.DType.Size())
	repeat := max(1, int(20e-6*150e9/flops))
	var shares, times []float64
	for b.Loop() {
		start := time.Now()
		for range repeat {
			loop.Run(c, 0, loop.Units)
		}
		run := time.Since(start).Seconds() / float64(repeat)
		start = time.Now()
		most := float64(peak(10_000))
		shares = append(shares, 100*flops/run/(most/time.Since(start).Seconds()))
		times = append(times, run)
	}
	b.ReportMetric(median(shares), "%peak")
	b.ReportMetric(median(times)*1e6, "µs")
	b.ReportMetric(0, "ns/op")
}

func median(x []float64) float64 {
	sort.Float64s(x)
	return x[len(x)/2]
}

func BenchmarkProduct(b *testing.B) {
	for level := simd.AVX2; level <= simd.Best(); level++ {
		for _, dt := range []DType{F32, F64} {
			for _, s := range [][4]int{
				{1, 64, 64, 64}, {1, 128, 128, 128}, {1, 256, 256, 256}, {1, 1024, 1024, 1024}, {1, 4096, 64, 64}, {1, 28, 64, 64},
				{1, 128, 512, 784}, {1, 784, 512, 128}, {1, 128, 512, 256}, {1, 32, 1024, 256}, {1, 512, 128, 128}, {1, 512, 512, 128},
				{64, 64, 64, 32}, {64, 64, 32, 64}, {1, 100, 100, 100}, {1, 333, 77, 201}, {1, 61, 130, 784}, {1, 128, 10, 256},
				{1, 1, 512, 784}, {1, 2, 512, 784}, {1, 4, 512, 784}, {1, 8, 512, 784}, {1, 8, 64, 64}, {1, 128, 1, 256}, {1, 8, 3, 2},
				{1, 256, 768, 768}, {1, 256, 3072, 768}, {1, 256, 768, 3072}, {1, 768, 3072, 256}, {1, 256, 8192, 768}, {1, 256, 768, 8192},
			} {
				for f, form := range forms {
					b.Run(fmt.Sprintf("%v/%v/%dx%dx%dx%d/%s", level, dt, s[0], s[1], s[2], s[3], form), func(b *testing.B) {
						out := Dense(dt, s[0], s[1], s[2])
						x, y := matrixLayout(dt, s[1], s[3], f >= 2), matrixLayout(dt, s[3], s[2], f%2 == 1)
						if s[0] > 1 {
							x, y = batched(x, s[0]), batched(y, s[0])
						}
						in := []Layout{x, y}
						benchProduct(b, level, MatMul{}, out, in, 1)
					})
				}
			}
		}
	}
}

// batched is so many matrices one after the other.
func batched(l Layout, n int) Layout {
	b := Layout{DType: l.DType, Rank: 3, Offset: l.Offset}
	b.Dims = [MaxRank]int{n, l.Dims[0], l.Dims[1]}
	b.Strides = [MaxRank]int{l.Len(), l.Strides[0], l.Strides[1]}
	return b
}

func BenchmarkPairs(b *testing.B) {
	for level := simd.AVX2; level <= simd.Best(); level++ {
		for _, dt := range []DType{F32, F64} {
			for _, s := range [][3]int{{4096, 64, 64}, {28, 64, 64}, {8, 3, 2}} {
				m, n, d := s[0], s[1], s[2]
				x, r, w := Dense(dt, m, d), Dense(dt, n, d), Dense(dt, m, n)
				wt := matrixLayout(dt, n, m, true)
				for _, c := range []struct {
					name string
					k    producer
					out  Layout
					in   []Layout
				}{
					{"SqDist", SqDist{}, w, []Layout{x, r}},
					{"WeightedDiff", WeightedDiff{}, x, []Layout{w, x, r}},
					{"WeightedDiffT", WeightedDiff{}, r, []Layout{wt, r, x}},
					{"DiffDot", DiffDot{}, w, []Layout{x, x, r}},
				} {
					b.Run(fmt.Sprintf("%v/%v/%dx%dx%d/%s", level, dt, m, n, d, c.name), func(b *testing.B) {
						benchProduct(b, level, c.k, c.out, c.in, 2)
					})
				}
			}
		}
	}
}
