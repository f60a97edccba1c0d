package simd

import (
	"math"
	"testing"
)

// pairs are all pairs of numbers that matter.
func pairs[T Float]() (x, y []T) {
	vs := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, -2.25, 3e38, -3e38, 1e-40, -1e-40, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, a := range vs {
		for _, b := range vs {
			x, y = append(x, T(a)), append(y, T(b))
		}
	}
	return x, y
}

func TestOperations(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testOperations[float32](t, level)
		testOperations[float64](t, level)
	})
}

func testOperations[T Float](t *testing.T, level Level) {
	x, y := pairs[T]()
	got := make([]T, len(x))
	for op, of := range []func(a, b T) T{
		Add: func(a, b T) T { return a + b },
		Sub: func(a, b T) T { return a - b },
		Mul: func(a, b T) T { return a * b },
		Div: func(a, b T) T { return a / b },
		Max: func(a, b T) T { return max(a, b) },
		Min: func(a, b T) T { return min(a, b) },
	} {
		ZipOf[T](level, Operation(op)).Rows(pointer(got), pointer(x), pointer(y), 1, len(x), 0, 0, 0)
		for i, g := range got {
			if want := of(x[i], y[i]); !identical(g, want) {
				t.Errorf("%s of %v and %v is %v, want %v", operationNames[op], x[i], y[i], g, want)
			}
		}
	}
	truth := make([]bool, len(x))
	for r, of := range []func(a, b T) bool{
		Less:     func(a, b T) bool { return a < b },
		LessEq:   func(a, b T) bool { return a <= b },
		Equal:    func(a, b T) bool { return a == b },
		NotEqual: func(a, b T) bool { return a != b },
	} {
		RelationOf[T](level, Relation(r)).Rows(pointer(truth), pointer(x), pointer(y), 1, len(x), 0, 0, 0)
		for i, g := range truth {
			if want := of(x[i], y[i]); g != want {
				t.Errorf("%s of %v and %v is %v", relationNames[r], x[i], y[i], g)
			}
		}
	}
	for i := range truth {
		truth[i] = i%3 == 0
	}
	ChooseOf(level, int(sizeOf[T]())).Rows(pointer(got), pointer(truth), pointer(x), pointer(y), 1, len(x), 0, 0, 0, 0)
	for i, g := range got {
		want := y[i]
		if i%3 == 0 {
			want = x[i]
		}
		if !identical(g, want) {
			t.Errorf("of %v and %v the choice is %v", x[i], y[i], g)
		}
	}
}

func TestCasts(t *testing.T) {
	edges := []float64{0, math.Copysign(0, -1), 0.9, -0.9, 2.5, -2.5, 1 << 30, 1<<31 - 1, 1<<31 - 0.5, 1 << 31, -1 << 31, -1<<31 - 0.5,
		-1<<31 - 1, 1 << 40, -1 << 40, 3e38, 4e38, 1e-40, 1e-46, 1 + 0x1p-24, 1 + 0x3p-24, math.Inf(1), math.Inf(-1), math.NaN()}
	singles := make([]float32, len(edges))
	for i, v := range edges {
		singles[i] = float32(v)
	}
	whole := []int32{0, 1, -1, math.MaxInt32, math.MinInt32, 1<<24 + 1, -1<<24 - 1}
	truncated := func(v float64) int32 {
		if v != v {
			return 0
		}
		return int32(math.Trunc(min(max(v, math.MinInt32), math.MaxInt32)))
	}
	eachLevel(t, func(t *testing.T, level Level) {
		checkCast(t, level, edges, func(v float64) float32 { return float32(v) }, identical)
		checkCast(t, level, edges, truncated, same)
		checkCast(t, level, singles, func(v float32) float64 { return float64(v) }, identical)
		checkCast(t, level, singles, func(v float32) int32 { return truncated(float64(v)) }, same)
		checkCast(t, level, whole, func(v int32) float32 { return float32(v) }, identical)
		checkCast(t, level, whole, func(v int32) float64 { return float64(v) }, identical)
		checkCast(t, level, []uint8{0, 1, 1, 0, 1}, func(v uint8) float32 { return float32(v) }, identical)
		checkCast(t, level, []uint8{0, 1, 1, 0, 1}, func(v uint8) float64 { return float64(v) }, identical)
	})
}

func same[T comparable](a, b T) bool { return a == b }

// checkCast casts each of x among enough others to fill vectors.
func checkCast[D, S Ordered](t *testing.T, level Level, x []S, of func(S) D, same func(a, b D) bool) {
	t.Helper()
	for len(x) < 40 {
		x = append(x, x...)
	}
	got := make([]D, len(x))
	apply(CastOf[D, S](level), got, x)
	for i, g := range got {
		if want := of(x[i]); !same(g, want) {
			t.Errorf("%T %v as %T is %v, want %v", x[i], x[i], g, g, want)
		}
	}
}
