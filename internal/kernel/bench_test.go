package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// bench runs a float32 kernel on dense operands of the given dims and reports GFLOP/s.
func bench(b *testing.B, k Kernel, out []int, in ...[]int) {
	c := NewCtx()
	layouts := make([]Layout, len(in))
	for i, dims := range in {
		layouts[i] = Dense(F32, dims...)
		x := make([]float32, layouts[i].Len())
		for j := range x {
			x[j] = float32(Random{Key: uint64(i), Law: LawNormal}.Draw(F32, 1, 0, uint64(j)))
		}
		c.In = append(c.In, Of(x))
	}
	l := Dense(F32, out...)
	c.Out = Alloc(l.Len() * 4)
	loop := k.Bind(l, layouts)
	b.ReportAllocs()
	for b.Loop() {
		loop.Run(c, 0, loop.Units)
	}
	b.ReportMetric(float64(k.Flops(l, layouts))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkMatMul(b *testing.B) {
	for _, s := range [][3]int{{64, 64, 64}, {256, 256, 256}, {4096, 64, 64}, {128, 512, 784}, {1, 512, 784}} {
		m, n, k := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) { bench(b, MatMul{}, []int{m, n}, []int{m, k}, []int{k, n}) })
	}
}

// The pairwise kernels at 4096 points and 64 centres in 64 dimensions.
func BenchmarkSqDist(b *testing.B) {
	bench(b, SqDist{}, []int{4096, 64}, []int{4096, 64}, []int{64, 64})
}

func BenchmarkWeightedDiff(b *testing.B) {
	bench(b, WeightedDiff{}, []int{4096, 64}, []int{4096, 64}, []int{4096, 64}, []int{64, 64})
}

func BenchmarkDiffDot(b *testing.B) {
	bench(b, DiffDot{}, []int{4096, 64}, []int{4096, 64}, []int{4096, 64}, []int{64, 64})
}

func BenchmarkSoftmax(b *testing.B) {
	for axis := range 2 {
		b.Run(fmt.Sprint("axis", axis), func(b *testing.B) { bench(b, Softmax{Axis: axis}, []int{4096, 64}, []int{4096, 64}) })
	}
}

func BenchmarkSum(b *testing.B) {
	for axes := range 4 {
		out := [][]int{{4096, 64}, {64}, {4096}, {}}[axes]
		b.Run(fmt.Sprintf("axes%02b", axes), func(b *testing.B) { bench(b, Reduce{Op: ReduceSum, Axes: uint8(axes)}, out, []int{4096, 64}) })
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, y := range [][]int{{4096, 64}, {64}, {4096, 1}, {}} {
		b.Run(fmt.Sprint(y), func(b *testing.B) { bench(b, Add, []int{4096, 64}, []int{4096, 64}, y) })
	}
}

// BenchmarkAccumulate adds the rows of a tile to sums of columns.
func BenchmarkAccumulate(b *testing.B) {
	for _, dt := range []DType{F32, F64} {
		for _, dims := range [][]int{{2, 512}, {7, 128}, {28, 128}, {8, 512}} {
			b.Run(fmt.Sprint(dt, dims), func(b *testing.B) {
				c := NewCtx()
				x := Dense(F32, dims...)
				c.In, c.Out = []Mem{Alloc(4 * x.Len())}, Alloc(8*dims[1])
				loop := Reduce{Op: ReduceSum, Axes: 1, Accumulate: true}.Bind(Dense(dt, dims[1]), []Layout{x})
				for b.Loop() {
					loop.Run(c, 0, loop.Units)
				}
				b.ReportMetric(float64(x.Len())*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// BenchmarkSoftmaxThenMul multiplies the weights of a softmax of scaled scores, most of them far
// below the greatest.
func BenchmarkSoftmaxThenMul(b *testing.B) {
	for _, scale := range []float32{1, 30} {
		b.Run(fmt.Sprint("scale", scale), func(b *testing.B) {
			c, l := NewCtx(), Dense(F32, 256, 64)
			x, y, z := make([]float32, l.Len()), make([]float32, l.Len()), make([]float32, l.Len())
			for i := range x {
				x[i] = scale * float32(Random{Key: 1, Law: LawNormal}.Draw(F32, 2, 3, uint64(i)))
			}
			soft, mul := Softmax{Axis: 1}.Bind(l, []Layout{l}), Mul.Bind(l, []Layout{l, l})
			run := func(bound Bound, out []float32, in ...Mem) {
				c.In, c.Out = append(c.In[:0], in...), Of(out)
				bound.Run(c, 0, bound.Units)
			}
			for b.Loop() {
				run(soft, y, Of(x))
				run(mul, z, Of(y), Of(x))
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(l.Len()), "ns/element")
		})
	}
}

// BenchmarkStandardise normalises the rows of a block that stays in the L1 cache.
func BenchmarkStandardise(b *testing.B) {
	dims := []int{64, 128}
	b.Run("rows", func(b *testing.B) { bench(b, Standardise{Axes: 2, Eps: 1e-5}, dims, dims) })
	b.Run("columns", func(b *testing.B) { bench(b, Standardise{Axes: 1, Eps: 1e-5}, dims, dims) })
	b.Run("rstd", func(b *testing.B) { bench(b, Rstd{Axes: 2, Eps: 1e-5}, dims[:1], dims) })
}

// Softmax and its relatives along short rows, beside rows of 64.
func BenchmarkShortSoftmax(b *testing.B) {
	for name, k := range map[string]Kernel{"softmax": Softmax{Axis: 1}, "log softmax": Softmax{Axis: 1, Log: true}, "log-sum-exp": LogSumExp{Axis: 1}} {
		for _, dt := range []DType{F32, F64} {
			for _, n := range []int{2, 3, 4, 5, 7, 8, 9, 10, 16, 64} {
				b.Run(fmt.Sprintf("%s/%v/%d", name, dt, n), func(b *testing.B) {
					rows := 1 << 14 / n
					c, in, out := NewCtx(), Dense(dt, rows, n), Dense(dt, rows, n)
					if _, sums := k.(LogSumExp); sums {
						out = Dense(dt, rows)
					}
					x := styled(rand.New(rand.NewPCG(1, 2)), styleDense, dt, plain, rows, n)
					c.In, c.Out = []Mem{x.mem}, Alloc(out.Len()*dt.Size())
					loop := k.Bind(out, []Layout{x.Layout})
					for b.Loop() {
						loop.Run(c, 0, loop.Units)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.Len()), "ns/element")
				})
			}
		}
	}
}
