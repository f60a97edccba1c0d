package kernel

import (
	"fmt"
	"testing"
)

// perElement runs a kernel on operands in the layouts, filled with ones, and reports nanoseconds for
// each element of the result; of rows with a length, for each row.
func perElement(b *testing.B, k Kernel, row int, out Layout, in ...Layout) {
	c := NewCtx()
	for _, l := range in {
		m := Alloc(l.reach() * l.DType.Size())
		switch l.DType {
		case F32:
			fill(As[float32](m), 1)
		case F64:
			x := As[float64](m)
			fill(x, 1)
			if l.Rank == 3 && l.Dims[1] == l.Dims[2] { // matrices that have an inverse
				for i := 0; i < len(x); i += l.Dims[1] * l.Dims[1] {
					for j := range l.Dims[1] {
						x[i+j*(l.Dims[1]+1)] = 2
					}
				}
			}
		case I64:
			x := As[int64](m)
			for i := range x {
				x[i] = int64(i * 7919 % 977)
			}
		}
		c.In = append(c.In, m)
	}
	c.Out = Alloc(out.Len() * out.DType.Size())
	loop := k.Bind(out, in)
	b.ReportAllocs()
	for b.Loop() {
		loop.Run(c, 0, loop.Units)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(out.Len()/row), "ns/row")
}

// strided returns the layout of an array in memory that has the axes in another order.
func permuted(l Layout, order ...int) Layout {
	dims := make([]int, len(order))
	for a, from := range order {
		dims[a] = l.Dims[from]
	}
	over := Dense(l.DType, dims...)
	for a, from := range order {
		l.Strides[from] = over.Strides[a]
	}
	return l
}

// BenchmarkSmallProduct multiplies batches of small matrices: m, k, n, and how the right operand lies.
func BenchmarkSmallProduct(b *testing.B) {
	const batch = 1024
	for _, dt := range []DType{F32, F64} {
		for _, s := range [][3]int{{1, 3, 3}, {2, 2, 2}, {3, 3, 1}, {3, 3, 3}, {4, 4, 4}, {6, 6, 6}, {8, 8, 8}} {
			m, k, n := s[0], s[1], s[2]
			out, x, y := Dense(dt, batch, m, n), Dense(dt, batch, m, k), Dense(dt, batch, k, n)
			b.Run(fmt.Sprint(dt, m, "x", k, "x", n), func(b *testing.B) { perElement(b, MatMul{}, m*n, out, x, y) })
			if n > 1 {
				b.Run(fmt.Sprint(dt, m, "x", k, "x", n, "/turned"), func(b *testing.B) { perElement(b, MatMul{}, m*n, out, x, permuted(y, 0, 2, 1)) })
				b.Run(fmt.Sprint(dt, m, "x", k, "x", n, "/left turned"), func(b *testing.B) { perElement(b, MatMul{}, m*n, out, permuted(x, 0, 2, 1), y) })
				b.Run(fmt.Sprint(dt, m, "x", k, "x", n, "/shared"), func(b *testing.B) { perElement(b, MatMul{}, m*n, out, x, Dense(dt, k, n)) })
			}
		}
	}
}

// BenchmarkShortGather picks rows of a few elements from a table.
func BenchmarkShortGather(b *testing.B) {
	const rows, table = 4096, 977
	for _, dt := range []DType{F32, F64} {
		for _, n := range []int{1, 2, 3, 4, 6, 8, 16, 64} {
			b.Run(fmt.Sprint(dt, "/", n), func(b *testing.B) {
				perElement(b, Gather{}, n, Dense(dt, rows, n), Dense(dt, table, n), Dense(I64, rows))
			})
		}
		b.Run(fmt.Sprint(dt, "/last"), func(b *testing.B) {
			perElement(b, Gather{Axis: 1}, 1, Dense(dt, 4, 1024), Dense(dt, 4, table), Dense(I64, 1024))
		})
	}
	b.Run("embedding", func(b *testing.B) {
		perElement(b, Gather{}, 64, Dense(F32, 100_000, 64), Dense(F32, 977, 64), Dense(I64, 100_000))
	})
}

// BenchmarkShortScatter adds slices of a few elements where others have been added.
func BenchmarkShortScatter(b *testing.B) {
	const rows, table = 4096, 977
	for _, n := range []int{1, 3, 8} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			perElement(b, ScatterAdd{}, n, Dense(F64, table, n), Dense(I64, rows), Dense(F64, rows, n))
		})
	}
}

// BenchmarkKnownPositions packs the lower triangle of matrices, and unpacks it: one large matrix, and
// many small ones.
func BenchmarkKnownPositions(b *testing.B) {
	for _, s := range [][2]int{{1, 300}, {1024, 6}} {
		batch, n := s[0], s[1]
		var at []int
		for i := range n {
			for j := range i + 1 {
				at = append(at, i*n+j)
			}
		}
		p, ints := &Positions{at}, Dense(I64, len(at))
		whole, packed := Dense(F64, batch, n*n), Dense(F64, batch, len(at))
		b.Run(fmt.Sprint("Gather/", s), func(b *testing.B) { perElement(b, Gather{Axis: 1}.At(p), 1, packed, whole, ints) })
		b.Run(fmt.Sprint("ScatterAdd/", s), func(b *testing.B) { perElement(b, ScatterAdd{Axis: 1}.At(p), 1, whole, ints, packed) })
	}
}

// BenchmarkShortAxes combines arrays whose last axes are short.
func BenchmarkShortAxes(b *testing.B) {
	for _, s := range []struct {
		name string
		k    Kernel
		out  []int
		in   [][]int
	}{
		{"Mul[p 2 3][p 1 3]", Mul, []int{4096, 2, 3}, [][]int{{4096, 2, 3}, {4096, 1, 3}}},
		{"Mul[p 3 3][p 1 3]", Mul, []int{4096, 3, 3}, [][]int{{4096, 3, 3}, {4096, 1, 3}}},
		{"Mul[p 2 1][p 1 3]", Mul, []int{4096, 2, 3}, [][]int{{4096, 2, 1}, {4096, 1, 3}}},
		{"Mul[p 3][p 1]", Mul, []int{4096, 3}, [][]int{{4096, 3}, {4096, 1}}},
		{"Mul[p 7][p 1]", Mul, []int{4096, 7}, [][]int{{4096, 7}, {4096, 1}}},
		{"Mul[p 3][3]", Mul, []int{4096, 3}, [][]int{{4096, 3}, {3}}},
		{"Mul[p 7][7]", Mul, []int{4096, 7}, [][]int{{4096, 7}, {7}}},
		{"Mul[26 544 3][26 1 3]", Mul, []int{26, 544, 3}, [][]int{{26, 544, 3}, {26, 1, 3}}},
		{"Copy[26 544 3][26 1 3]", Copy{}, []int{26, 544, 3}, [][]int{{26, 1, 3}}},
		{"Copy[p 2 3][p 1 3]", Copy{}, []int{4096, 2, 3}, [][]int{{4096, 1, 3}}},
		{"Copy[p 64][64]", Copy{}, []int{4096, 64}, [][]int{{64}}},
		{"Add[p 5 4][p 5 4]", Add, []int{4096, 5, 4}, [][]int{{4096, 5, 4}, {4096, 5, 4}}},
	} {
		for _, dt := range []DType{F32, F64} {
			in := make([]Layout, len(s.in))
			for i, dims := range s.in {
				in[i] = Dense(dt, dims...)
			}
			b.Run(fmt.Sprint(s.name, dt), func(b *testing.B) { perElement(b, s.k, 1, Dense(dt, s.out...), in...) })
		}
	}
	x := Dense(F64, 4096, 3, 2)
	b.Run("Mul turned", func(b *testing.B) { perElement(b, Mul, 1, x, permuted(x, 0, 2, 1), x) })
	column := Dense(F64, 4096)
	column.Strides[0] = 6
	b.Run("Mul column", func(b *testing.B) { perElement(b, Mul, 1, Dense(F64, 4096), column, Dense(F64, 4096)) })
}

// BenchmarkShortNormalise normalises short rows, side by side and one after the other.
func BenchmarkShortNormalise(b *testing.B) {
	for _, dt := range []DType{F32, F64} {
		for _, n := range []int{2, 3, 5, 10, 16} {
			b.Run(fmt.Sprint(dt, "/", n), func(b *testing.B) { perElement(b, Softmax{Axis: 1}, 1, Dense(dt, 4096, n), Dense(dt, 4096, n)) })
			b.Run(fmt.Sprint(dt, "/log", n), func(b *testing.B) {
				perElement(b, Softmax{Axis: 1, Log: true}, 1, Dense(dt, 4096, n), Dense(dt, 4096, n))
			})
			b.Run(fmt.Sprint(dt, "/between", n), func(b *testing.B) { perElement(b, Softmax{Axis: 1}, 1, Dense(dt, 4096, n, 3), Dense(dt, 4096, n, 3)) })
		}
	}
}

// BenchmarkSmallSystems factors and solves batches of small systems.
func BenchmarkSmallSystems(b *testing.B) {
	for _, n := range []int{2, 3, 4, 6, 8} {
		a, x := Dense(F64, 1024, n, n), Dense(F64, 1024, n, 1)
		b.Run(fmt.Sprint("Cholesky/", n), func(b *testing.B) { perElement(b, Cholesky{}, n*n, a, a) })
		b.Run(fmt.Sprint("SolveTriangular/", n), func(b *testing.B) { perElement(b, SolveTriangular{}, n, x, a, x) })
		b.Run(fmt.Sprint("Solve/", n), func(b *testing.B) { perElement(b, Solve{}, n, x, a, x) })
	}
}
