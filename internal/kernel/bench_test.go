package kernel

import (
	"fmt"
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
			x[j] = Normal32(uint64(i), 1, 0, uint64(j))
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
