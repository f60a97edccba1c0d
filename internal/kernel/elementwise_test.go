package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// rounded is f as computed in float64 and rounded to the dtype.
func rounded(dt DType, v float64) float64 {
	if dt == F32 {
		return float64(float32(v))
	}
	return v
}

// atLevels runs a test at every level of this machine.
func atLevels(t *testing.T, f func(t *testing.T)) {
	eachLevel(t, func(t *testing.T, l simd.Level) {
		defer func(old simd.Level) { level = old }(level)
		level = l
		f(t)
	})
}

func TestUnary(t *testing.T) { atLevels(t, testUnary) }

func testUnary(t *testing.T) {
	signOf := func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		case x == 0:
			return 0
		}
		return x
	}
	sigmoid := func(x float64) float64 {
		if x >= 0 {
			return 1 / (1 + math.Exp(-x))
		}
		return math.Exp(x) / (1 + math.Exp(x))
	}
	softplus := func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
	for name, c := range map[string]struct {
		k     Unary
		f     func(float64) float64
		units float64 // of error; simd's tests are sharper
	}{
		"Neg":        {Neg, func(x float64) float64 { return -x }, 0},
		"Abs":        {Abs, math.Abs, 0},
		"Sign":       {Sign, signOf, 0},
		"Square":     {Square, func(x float64) float64 { return x * x }, 0},
		"Relu":       {Relu, func(x float64) float64 { return math.Max(x, 0) }, 0},
		"Sqrt":       {Sqrt, math.Sqrt, 0},
		"Rsqrt":      {Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }, 2},
		"Reciprocal": {Reciprocal, func(x float64) float64 { return 1 / x }, 0},
		"Exp":        {Unary{Function: simd.Exp}, math.Exp, 3},
		"Log":        {Unary{Function: simd.Log}, func(x float64) float64 { return log(x) }, 3},
		"Log1p":      {Unary{Function: simd.Log1p}, math.Log1p, 3},
		"Expm1":      {Unary{Function: simd.Expm1}, math.Expm1, 3},
		"Tanh":       {Unary{Function: simd.Tanh}, math.Tanh, 3},
		"Sigmoid":    {Unary{Function: simd.Sigmoid}, sigmoid, 4},
		"Softplus":   {Unary{Function: simd.Softplus}, softplus, 4},
		"LogSigmoid": {Unary{Function: simd.LogSigmoid}, func(x float64) float64 { return -softplus(-x) }, 4},
		"Sin":        {Unary{Function: simd.Sin}, math.Sin, 3},
		"Cos":        {Unary{Function: simd.Cos}, math.Cos, 3},
		"Atan":       {Unary{Function: simd.Atan}, math.Atan, 3},
		"Asinh":      {Unary{Function: simd.Asinh}, math.Asinh, 3},
		"Erf":        {Unary{Function: simd.Erf}, math.Erf, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for _, dims := range shapes(r) {
				for _, dt := range []DType{F32, F64} {
					x := random(r, dt, special, dims...)
					want := func(ix []int) float64 { return rounded(dt, c.f(x.get(ix...))) }
					if c.units > 0 {
						checkUnits(t, c.k, dt, dims, []array{x}, c.units, want)
					} else {
						check(t, c.k, dt, dims, []array{x}, 0, want)
					}
				}
				if c.k.Function > simd.Relu {
					continue
				}
				for _, dt := range []DType{I32, I64} {
					x := random(r, dt, plain, dims...)
					check(t, c.k, dt, dims, []array{x}, 1e-9, func(ix []int) float64 { return c.f(x.get(ix...)) })
				}
			}
		})
	}
}

// log is math.Log, which is wrong for subnormal numbers on amd64.
func log(x float64) float64 {
	if f, e := math.Frexp(x); 0 < x && x < 0x1p-1022 {
		return math.Log(f) + float64(e)*math.Ln2
	}
	return math.Log(x)
}

func TestBinary(t *testing.T) { atLevels(t, testBinary) }

func testBinary(t *testing.T) {
	for name, c := range map[string]struct {
		k Binary
		f func(x, y float64) float64
	}{
		"Add": {Add, func(x, y float64) float64 { return x + y }},
		"Sub": {Sub, func(x, y float64) float64 { return x - y }},
		"Mul": {Mul, func(x, y float64) float64 { return x * y }},
		"Div": {Div, func(x, y float64) float64 { return x / y }},
		"Max": {Max, func(x, y float64) float64 { return nan2(math.Max, x, y) }},
		"Min": {Min, func(x, y float64) float64 { return nan2(math.Min, x, y) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for _, dims := range shapes(r) {
				for _, dt := range []DType{F32, F64, I32, I64} {
					value, tol := special, 0.0
					if dt == I32 || dt == I64 {
						if c.k.Operation == simd.Div {
							continue
						}
						value, tol = plain, 1e-9
					}
					for _, shapes := range [][2][]int{{dims, narrowed(r, dims)}, {narrowed(r, dims), dims}} {
						x, y := random(r, dt, value, shapes[0]...), random(r, dt, value, shapes[1]...)
						check(t, c.k, dt, dims, []array{x, y}, tol, func(ix []int) float64 { return rounded(dt, c.f(x.get(ix...), y.get(ix...))) })
					}
				}
			}
		})
	}
}

// nan2 is f, but NaN where an operand is: math.Max prefers +Inf.
func nan2(f func(x, y float64) float64, x, y float64) float64 {
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN()
	}
	return f(x, y)
}

func TestIntegersWrap(t *testing.T) {
	x := array{Dense(I32, 1), Of([]int32{math.MinInt32})}
	check(t, Abs, I32, []int{1}, []array{x}, 0, func([]int) float64 { return math.MinInt32 })
	one := array{Dense(I32, 1), Of([]int32{1})}
	check(t, Sub, I32, []int{1}, []array{x, one}, 0, func([]int) float64 { return math.MaxInt32 })
}

// A kernel that has no loop for a dtype says so when it is bound.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		k    Kernel
		dt   DType
		want string
	}{
		{Unary{Function: simd.Exp}, I32, "kernel: no kernel.Unary loop for int32"},
		{Div, I64, "kernel: no kernel.Binary loop for int64"},
		{Map{}, I64, "kernel: no kernel.Map loop for int64"},
		{Zip{}, I32, "kernel: no kernel.Zip loop for int32"},
		{MatMul{}, I32, "kernel: no kernel.MatMul loop for int32"},
		{Reduce{Op: ReduceMean}, I32, "kernel: no kernel.Reduce loop for int32"},
		{Softmax{}, Bool, "kernel: no kernel.Softmax loop for bool"},
	} {
		t.Run(fmt.Sprintf("%T", c.k), func(t *testing.T) {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("got %v, want %v", got, c.want)
				}
			}()
			l := Dense(c.dt, 2, 2)
			c.k.Bind(l, []Layout{l, l})
		})
	}
}

func TestCompareAndLogic(t *testing.T) { atLevels(t, testCompareAndLogic) }

func testCompareAndLogic(t *testing.T) {
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	relations := [...]func(x, y float64) bool{
		Less:     func(x, y float64) bool { return x < y },
		LessEq:   func(x, y float64) bool { return x <= y },
		Equal:    func(x, y float64) bool { return x == y },
		NotEqual: func(x, y float64) bool { return x != y },
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, dims := range shapes(r) {
		for i, f := range relations[Less:] {
			op := Less + CompareOp(i)
			for _, dt := range []DType{F32, F64, I32, I64, Bool} {
				value := special
				if dt == I32 || dt == I64 {
					value = plain
				}
				x, y := random(r, dt, value, dims...), random(r, dt, value, narrowed(r, dims)...)
				check(t, Compare{Op: op}, Bool, dims, []array{x, y}, 0, func(ix []int) float64 { return truth(f(x.get(ix...), y.get(ix...))) })
			}
		}
		x, y := random(r, Bool, plain, dims...), random(r, Bool, plain, narrowed(r, dims)...)
		check(t, Logic{Op: And}, Bool, dims, []array{x, y}, 0, func(ix []int) float64 { return x.get(ix...) * y.get(ix...) })
		check(t, Logic{Op: Or}, Bool, dims, []array{x, y}, 0, func(ix []int) float64 { return max(x.get(ix...), y.get(ix...)) })
		check(t, Not{}, Bool, dims, []array{x}, 0, func(ix []int) float64 { return 1 - x.get(ix...) })
	}
}

func TestSelectAndCopy(t *testing.T) { atLevels(t, testSelectAndCopy) }

func testSelectAndCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, dims := range shapes(r) {
		for _, dt := range []DType{F32, F64, I32, I64, Bool} {
			value := special
			if dt == I32 || dt == I64 {
				value = plain
			}
			mask := random(r, Bool, plain, narrowed(r, dims)...)
			a, b := random(r, dt, value, dims...), random(r, dt, value, narrowed(r, dims)...)
			check(t, Select{}, dt, dims, []array{mask, a, b}, 0, func(ix []int) float64 {
				if mask.get(ix...) != 0 {
					return a.get(ix...)
				}
				return b.get(ix...)
			})
			check(t, Copy{}, dt, dims, []array{b}, 0, func(ix []int) float64 { return b.get(ix...) })
		}
	}
}

func TestCast(t *testing.T) { atLevels(t, testCast) }

func testCast(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	types := []DType{F32, F64, I32, I64, Bool}
	for _, dims := range [][]int{{}, {7}, {1030}, {33, 5}} {
		for _, from := range types {
			value := special
			if from == I32 || from == I64 {
				value = plain
			}
			x := random(r, from, value, dims...)
			for _, to := range types {
				check(t, Cast{}, to, dims, []array{x}, 0, func(ix []int) float64 { return castOf(x.get(ix...), to) })
			}
		}
	}
	edges := []float64{1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1 << 62, 1 << 63, -1 << 63, 0.9, -0.9, 2.5, -2.5}
	x := array{Dense(F64, len(edges)), Of(edges)}
	want := map[DType][]int64{
		I32: {1<<31 - 1, 1<<31 - 1, -1 << 31, -1 << 31, 1<<31 - 1, 1<<31 - 1, -1 << 31, 0, 0, 2, -2},
		I64: {1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1 << 62, 1<<63 - 1, -1 << 63, 0, 0, 2, -2},
	}
	for to, v := range want {
		check(t, Cast{}, to, x.shape(), []array{x}, 0, func(ix []int) float64 { return float64(v[ix[0]]) })
	}
	big := array{Dense(I64, 1), Of([]int64{1<<40 + 5})}
	check(t, Cast{}, I32, []int{1}, []array{big}, 0, func([]int) float64 { return 5 })
	exact := int64(1<<62 + 1) // more bits than a float64 has
	c := NewCtx()
	c.In, c.Out = []Mem{Of([]int64{exact})}, Alloc(8)
	Cast{}.Bind(Dense(I64, 1), []Layout{Dense(I64, 1)}).Run(c, 0, 1)
	if got := As[int64](c.Out)[0]; got != exact {
		t.Errorf("int64 %d became %d", exact, got)
	}
}

func castOf(v float64, to DType) float64 {
	switch to {
	case F32, F64:
		return rounded(to, v)
	case Bool:
		if v != 0 {
			return 1
		}
		return 0
	}
	lo, hi := float64(math.MinInt32), float64(math.MaxInt32)
	if to == I64 {
		lo, hi = math.MinInt64, math.MaxInt64
	}
	if math.IsNaN(v) {
		return 0
	}
	return math.Trunc(min(max(v, lo), hi)) + 0 // no -0
}

// What a kernel tells the tape about its operands, and the size of its work.
func TestContract(t *testing.T) {
	a, b, c := Dense(F32, 2, 3), Dense(F32, 3, 4), Dense(F32, 2, 4)
	for _, k := range []struct {
		Kernel
		out     Layout
		in      []Layout
		flops   int64
		inPlace bool
	}{
		{Add, a, []Layout{a, a}, 6, true},
		{Unary{Function: simd.Exp}, a, []Layout{a}, 6, true},
		{Copy{}, a, []Layout{a}, 0, true},
		{MatMul{}, c, []Layout{a, b}, 48, false},
		{SqDist{}, Dense(F32, 2, 2), []Layout{a, a}, 36, false},
		{WeightedDiff{}, c, []Layout{a, c, b}, 72, false},
		{Softmax{Axis: 1}, a, []Layout{a}, 24, true},
		{Sparsemax{Axis: 1}, a, []Layout{a}, 24, true},
		{LogSumExp{Axis: 1}, Dense(F32, 2), []Layout{a}, 18, false},
		{Reduce{Op: ReduceSum, Axes: 1}, Dense(F32, 3), []Layout{a}, 6, false},
		{Arg{Axis: 1}, Dense(I64, 2), []Layout{a}, 6, false},
		{Recurrence{Axis: 1}, a, []Layout{a, a}, 12, false},
		{CumArg{Axis: 1}, Dense(I64, 2, 3), []Layout{a}, 6, false},
		{ArgSort{Axis: 1}, Dense(I64, 2, 3), []Layout{a}, 24, false},
		{SearchSorted{}, Dense(I32, 4), []Layout{Dense(F32, 7), Dense(F32, 4)}, 12, false},
		{DynamicSlice{}, Dense(F32, 1, 3), []Layout{a, Dense(I64)}, 0, false},
		{ScatterAdd{}, a, []Layout{Dense(I64, 4), Dense(F32, 4, 3)}, 12, false},
		{Gather{}, Dense(F32, 4, 3), []Layout{a, Dense(I64, 4)}, 0, false},
		{Concat{}, Dense(F32, 4, 3), []Layout{a, a}, 0, false},
		{OneHot{}, a, []Layout{Dense(I64, 2)}, 0, false},
		{Iota{}, a, nil, 0, false},
		{Random{}, a, nil, 60, false},
	} {
		if got := k.Flops(k.out, k.in); got != k.flops {
			t.Errorf("%T: %d operations, want %d", k.Kernel, got, k.flops)
		}
		if k.InPlace(0) != k.inPlace || !k.Strided(0) {
			t.Errorf("%T: in place %v, strided %v, want %v and true", k.Kernel, k.InPlace(0), k.Strided(0), k.inPlace)
		}
	}
}
