package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func sizeOf[T any]() uintptr {
	var e T
	return unsafe.Sizeof(e)
}

// rowOf returns a row of n numbers, some of them special values if special is set.
func rowOf[T Float](r *rand.Rand, n int, special bool) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
		if special && r.IntN(max(2, n)) == 0 {
			x[i] = []T{0, T(math.Copysign(0, -1)), T(math.Inf(1)), T(math.Inf(-1)), T(math.NaN())}[r.IntN(5)]
		}
		if special && r.IntN(2) == 0 { // zeros that are the extreme
			x[i] = T(math.Copysign(0, float64(1-2*r.IntN(2))))
		}
	}
	return x
}

// identical reports whether a and b are the same number, or both NaN.
func identical[T Float](a, b T) bool {
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
}

func TestFolds(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testFolds[float32](t, level, 0x1p-23)
		testFolds[float64](t, level, 0x1p-52)
	})
}

func testFolds[T Float](t *testing.T, level Level, eps float64) {
	r := rand.New(rand.NewPCG(7, 8))
	lengths := []int{300, 1024, 1023}
	for n := range 70 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		x, y := rowOf[T](r, n, false), rowOf[T](r, n, false)
		mean := T(0.25)
		var sum, squares, products, deviation, lost, size, sizeOfProducts float64
		for i, v := range x {
			a, b := float64(v), float64(y[i])
			d := (a-float64(mean))*(a-float64(mean)) - lost // compensated: the loops err by less than plain addition
			next := deviation + d
			lost, deviation = (next-deviation)-d, next
			sum, squares, products = sum+a, squares+a*a, products+a*b
			size, sizeOfProducts = size+math.Abs(a), sizeOfProducts+math.Abs(a*b)
		}
		near := func(what string, got T, want, size float64) {
			t.Helper()
			if math.Abs(float64(got)-want) > 4*eps*size {
				t.Errorf("%s of %d %T: %v, want %v", what, n, got, got, want)
			}
		}
		var got T
		FoldOf[T](level, SumOf)(pointerTo(&got), pointer(x), 1, n, 0)
		near("sum", got, sum, size)
		FoldOf[T](level, SumSquaresOf)(pointerTo(&got), pointer(x), 1, n, 0)
		near("sum of squares", got, squares, squares)
		RowDotOf[T](level)(pointerTo(&got), pointer(x), pointer(y), 1, n, 0, 0)
		near("sum of products", got, products, sizeOfProducts)

		DeviationOf[T](level)(pointerTo(&got), pointer(x), pointerTo(&mean), 1, n, 0, 0)
		near("sum of squared differences", got, deviation, deviation)

		for range 20 {
			x = rowOf[T](r, n, true)
			greatest, least := T(math.Inf(-1)), T(math.Inf(1))
			for _, v := range x {
				greatest, least = max(greatest, v), min(least, v)
			}
			FoldOf[T](level, MaxOf)(pointerTo(&got), pointer(x), 1, n, 0)
			if !identical(got, greatest) {
				t.Errorf("max of %v: %v, want %v", x, got, greatest)
			}
			var at int64
			RowIndexOf[T](level)((*byte)(unsafe.Pointer(&at)), pointer(x), pointerTo(&got), 1, n, 0, 0)
			if n > 0 && at != int64(slices.Index(x, got)) {
				t.Errorf("the index of %v in %v is %v", got, x, at)
			}
			FoldOf[T](level, MinOf)(pointerTo(&got), pointer(x), 1, n, 0)
			if !identical(got, least) {
				t.Errorf("min of %v: %v, want %v", x, got, least)
			}
		}
	}
}

func pointerTo[T any](p *T) *byte { return (*byte)(unsafe.Pointer(p)) }

func TestColumns(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testColumns[float32](t, level)
		testColumns[float64](t, level)
	})
}

func testColumns[T Float](t *testing.T, level Level) {
	r := rand.New(rand.NewPCG(9, 10))
	size := int(sizeOf[T]())
	for _, rows := range []int{0, 1, 3, 8, 9, 17, 64} {
		for cols := 1; cols <= 50; cols++ {
			stride := cols + r.IntN(3)
			x, special := rowOf[T](r, rows*stride+1, false), rowOf[T](r, rows*stride+1, true)
			acc, sums, narrow := make([]float64, cols+1), make([]float64, cols+1), make([]T, cols+1)
			greatest, least := rowOf[T](r, cols+1, true), rowOf[T](r, cols+1, true)
			best, worst := slices.Clone(greatest), slices.Clone(least)
			for c := range cols + 1 {
				narrow[c] = T(r.NormFloat64())
				acc[c] = float64(narrow[c])
				sums[c] = acc[c]
			}
			for i := range rows {
				for c := range cols {
					sums[c] += float64(x[i*stride+c])
					best[c], worst[c] = max(best[c], special[i*stride+c]), min(worst[c], special[i*stride+c])
				}
			}
			ColumnSumOf[T](level)(pointer(acc), pointer(x), rows, cols, stride*size)
			ColumnAddOf[T](level)(pointer(narrow), pointer(x), rows, cols, stride*size)
			ColumnExtremeOf[T](level, true)(pointer(greatest), pointer(special), rows, cols, stride*size)
			ColumnExtremeOf[T](level, false)(pointer(least), pointer(special), rows, cols, stride*size)
			for c := range cols + 1 {
				if math.Abs(acc[c]-sums[c]) > 4e-7*float64(rows) || c == cols && acc[c] != sums[c] {
					t.Errorf("%d×%d: the sum of column %d is %v, want %v", rows, cols, c, acc[c], sums[c])
				}
				if got := float64(narrow[c]); math.Abs(got-sums[c]) > 4e-7*float64(rows) || c == cols && got != sums[c] {
					t.Errorf("%d×%d: column %d adds up to %v, want %v", rows, cols, c, got, sums[c])
				}
				if !identical(greatest[c], best[c]) || !identical(least[c], worst[c]) {
					t.Errorf("%d×%d: the extremes of column %d are %v and %v, want %v and %v",
						rows, cols, c, greatest[c], least[c], best[c], worst[c])
				}
			}
		}
	}
}

// TestColumnDeviation: the squares of differences from the means are added with the bits that
// ColumnSum adds them.
func TestColumnDeviation(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testColumnDeviation[float32](t, level)
		testColumnDeviation[float64](t, level)
	})
}

func testColumnDeviation[T Float](t *testing.T, level Level) {
	deviation := ColumnDeviationOf[T](level)
	if deviation == nil {
		if level != Portable {
			t.Errorf("%v has no loop for %T", level, T(0))
		}
		return
	}
	r := rand.New(rand.NewPCG(11, 12))
	size := int(sizeOf[T]())
	for _, rows := range []int{0, 1, 3, 8, 9, 15, 64} {
		for cols := 1; cols <= 50; cols++ {
			stride := cols + r.IntN(3)
			x, mean, squares := rowOf[T](r, rows*stride+1, false), rowOf[T](r, cols, false), make([]T, rows*stride+1)
			for i := range rows {
				for c := range cols {
					d := x[i*stride+c] - mean[c]
					squares[i*stride+c] = d * d
				}
			}
			acc, want := make([]float64, cols+1), make([]float64, cols+1)
			for c := range acc {
				acc[c] = r.NormFloat64()
				want[c] = acc[c]
			}
			ColumnSumOf[T](level)(pointer(want), pointer(squares), rows, cols, stride*size)
			deviation(pointer(acc), pointer(x), pointer(mean), rows, cols, stride*size)
			if !slices.Equal(acc, want) {
				t.Fatalf("%d×%d: %v, want %v", rows, cols, acc, want)
			}
		}
	}
}

// The exponentials of WeightOf are those of Exp, or 0.
func TestWeights(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testWeights[float32](t, level, 0x1p-102, -100)
		testWeights[float64](t, level, 0x1p-998, -740)
	})
}

func testWeights[T Float](t *testing.T, level Level, least, lowest float64) {
	const n = 10_000
	x, got, exp := make([]T, n), make([]T, n), make([]T, n)
	for i := range x {
		x[i] = T(lowest * float64(i) / n)
	}
	x[0], x[1] = T(math.Inf(-1)), T(math.NaN())
	WeightOf[T](level)(pointer(got), pointer(x), 1, n, 0, 0)
	apply(MapOf[T](level, Exp), exp, x)
	zeros := 0
	for i, g := range got {
		switch e := float64(exp[i]); {
		case g == 0 && e <= least*1.001:
			zeros++
		case !identical(g, exp[i]) || e < least*0.999:
			t.Fatalf("%v gives %v, and Exp %v", x[i], g, e)
		}
	}
	if zeros < n/20 {
		t.Errorf("%d zeros: the example shows nothing", zeros)
	}
}

func TestExpSum(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testExpSum[float32](t, level, 0x1p-23)
		testExpSum[float64](t, level, 0x1p-52)
	})
}

func testExpSum[T Float](t *testing.T, level Level, eps float64) {
	r := rand.New(rand.NewPCG(11, 12))
	size := int(sizeOf[T]())
	for cols := range 70 {
		const rows = 3
		x, peak := rowOf[T](r, rows*cols, false), rowOf[T](r, rows, false)
		dst, sum := make([]T, rows*cols), make([]T, rows)
		ExpSumOf[T](level)(pointer(dst), pointer(sum), pointer(x), pointer(peak), rows, cols, cols*size, cols*size, size)
		for i := range rows {
			total := 0.0
			for j := range cols {
				e := math.Exp(float64(x[i*cols+j] - peak[i]))
				total += e
				if got := float64(dst[i*cols+j]); math.Abs(got-e) > 3*eps*e {
					t.Errorf("exp(%v - %v) is %v, want %v", x[i*cols+j], peak[i], got, e)
				}
			}
			if math.Abs(float64(sum[i])-total) > 4*eps*total {
				t.Errorf("%d exponentials sum up to %v, want %v", cols, sum[i], total)
			}
		}
	}
}
