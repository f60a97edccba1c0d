package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// folds calls f with every element of a whose kept axes have the given index; the folded axes are
// removed from the index.
func folds(a array, mask uint8, ix []int, f func(i int, v float64)) {
	full, i := make([]int, a.Rank), 0
	var inner []int
	for ax, d := range a.shape() {
		if mask>>ax&1 != 0 {
			inner = append(inner, d)
		}
	}
	indices(inner, func(in []int) {
		kept, folded := ix, in
		for ax := range full {
			if mask>>ax&1 != 0 {
				full[ax], folded = folded[0], folded[1:]
			} else {
				full[ax], kept = kept[0], kept[1:]
			}
		}
		f(i, a.get(full...))
		i++
	})
}

// keptDims are the sizes of the axes that are not folded.
func keptDims(dims []int, mask uint8) (kept []int) {
	for a, d := range dims {
		if mask>>a&1 == 0 {
			kept = append(kept, d)
		}
	}
	return kept
}

func TestReduce(t *testing.T) { atLevels(t, testReduce) }

func testReduce(t *testing.T) {
	ops := []struct {
		op    ReduceOp
		empty float64
		f     func(acc, v float64) float64
	}{
		{ReduceSum, 0, func(acc, v float64) float64 { return acc + v }},
		{ReduceMean, 0, func(acc, v float64) float64 { return acc + v }},
		{ReduceProd, 1, func(acc, v float64) float64 { return acc * v }},
		{ReduceMax, math.Inf(-1), func(acc, v float64) float64 { return nan2(math.Max, acc, v) }},
		{ReduceMin, math.Inf(1), func(acc, v float64) float64 { return nan2(math.Min, acc, v) }},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range append(shapes(r), []int{5, 300, 20}, []int{2, 40, 33, 3}) {
		mask := uint8(r.IntN(1 << len(dims)))
		for _, c := range ops {
			op := c.op
			for _, dt := range []DType{F32, F64, I32, I64, Bool} {
				extreme := op == ReduceMax || op == ReduceMin
				if dt > F64 && (op == ReduceMean || op == ReduceProd) || dt == Bool && !extreme {
					continue
				}
				value, tol := plain, 0.0
				switch {
				case dt > F64:
				case extreme:
					value = special
				case dt == F32:
					tol = 1e-4 // 3000 terms of which the sum of the magnitudes is 7000
				default:
					tol = 1e-8 // the error of adding 3000 terms one after the other, as the reference does
				}
				if op == ReduceProd {
					value = func(r *rand.Rand) float64 { return 1 + plain(r)/1000 }
				}
				x := random(r, dt, value, dims...)
				want := func(ix []int) float64 {
					acc, n := c.empty, 0
					folds(x, mask, ix, func(_ int, v float64) { acc, n = c.f(acc, v), n+1 })
					if op == ReduceMean {
						acc /= float64(n)
					}
					if n == 0 && dt > F64 && op >= ReduceMax {
						acc = emptyExtreme(dt, op)
					}
					return rounded(dt, acc)
				}
				check(t, Reduce{Op: op, Axes: mask}, dt, keptDims(dims, mask), []array{x}, tol, want)
			}
		}
	}
}

// emptyExtreme returns the result of Max and Min of integers and Bools for no elements.
func emptyExtreme(dt DType, op ReduceOp) float64 {
	least := map[DType]float64{I32: math.MinInt32, I64: math.MinInt64, Bool: 0}[dt]
	if op == ReduceMax {
		return least
	}
	return map[DType]float64{I32: math.MaxInt32, I64: math.MaxInt64, Bool: 1}[dt]
}

// Reducing an axis of size 0.
func TestReduceNothing(t *testing.T) { atLevels(t, testReduceNothing) }

func testReduceNothing(t *testing.T) {
	inf := math.Inf(1)
	for op, want := range map[ReduceOp]float64{ReduceSum: 0, ReduceMean: math.NaN(), ReduceProd: 1, ReduceMax: -inf, ReduceMin: inf} {
		for _, dims := range [][]int{{0, 3}, {0, 40}} { // along rows, and by columns
			for _, dt := range []DType{F32, F64, I32, I64, Bool} {
				want := want
				switch {
				case dt > F64 && op == ReduceMean || dt == Bool && op <= ReduceProd:
					continue
				case dt > F64 && op >= ReduceMax:
					want = emptyExtreme(dt, op)
				}
				x := array{Dense(dt, dims...), Mem{}}
				check(t, Reduce{Op: op, Axes: 1}, dt, dims[1:], []array{x}, 0, func([]int) float64 { return want })
			}
		}
	}
}

func TestSumOfSpecialValues(t *testing.T) { atLevels(t, testSumOfSpecialValues) }

func testSumOfSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ a, b, want float64 }{{inf, 1, inf}, {-inf, 1, -inf}, {inf, -inf, nan}, {nan, 1, nan}, {math.Copysign(0, -1), 0, 0}} {
		for _, n := range []int{2, 5, 2000} {
			x := make([]float64, 20*n)
			for j := range 20 {
				x[j*n], x[j*n+n-1] = c.a, c.b
			}
			rows := array{Dense(F64, 20, n), Of(x)}
			cols, _ := Transpose{axes[uint8](1, 0)}.View(rows.Layout)
			for mask, a := range map[uint8]array{2: rows, 1: {cols, rows.mem}} {
				check(t, Reduce{Op: ReduceSum, Axes: mask}, F64, []int{20}, []array{a}, 0, func([]int) float64 { return c.want })
			}
		}
	}
}

// A million terms of float32 cost no more than the rounding of the result, whichever way they lie.
func TestSumIsAccurate(t *testing.T) { atLevels(t, testSumIsAccurate) }

func testSumIsAccurate(t *testing.T) {
	const n = 1 << 20
	x := make([]float32, n)
	var sum float64
	for i := range x {
		x[i] = 0.1 + float32(Random{Key: 1}.Draw(F32, 2, 3, uint64(i)))
		sum += float64(x[i])
	}
	for _, dims := range [][]int{{n, 1}, {n / 32, 32}} {
		c := NewCtx()
		c.In, c.Out = []Mem{Of(x)}, Alloc(4*dims[1])
		loop := Reduce{Op: ReduceSum, Axes: 1}.Bind(Dense(F32, dims[1]), []Layout{Dense(F32, dims...)})
		loop.Run(c, 0, loop.Units)
		var got float64
		for _, v := range As[float32](c.Out) {
			got += float64(v)
		}
		if math.Abs(got-sum) > 1e-7*sum {
			t.Errorf("%v: %v, want %v", dims, got, sum)
		}
	}
}

// A sum adds to what the result holds, however many rows there are and whichever way they lie. The
// values that it starts from are as large as the terms, so that the tolerance is that of the sum.
func TestSumAccumulates(t *testing.T) { atLevels(t, testSumAccumulates) }

func testSumAccumulates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, cols := range []int{1, 3, 16, 37, 512, 1030} {
		for _, rows := range []int{1, 2, 3, 7, 8, 9, 28, 300} {
			for _, dt := range []DType{F32, F64} {
				for mask := uint8(1); mask <= 2; mask++ {
					x := styled(r, styleDense, dt, plain, rows, cols)
					for _, to := range []DType{dt, F64} {
						kept := keptDims([]int{rows, cols}, mask)[0]
						terms := rows * cols / kept
						c := dirty(worker, []array{x})
						c.Out = Alloc(kept * to.Size())
						want, size := make([]float64, kept), make([]float64, kept)
						for i := range kept {
							v := plain(r)
							set(to, c.Out, i, v)
							v = element(to, c.Out, i)
							want[i], size[i] = v, math.Abs(v)
							folds(x, mask, []int{i}, func(_ int, v float64) { want[i], size[i] = want[i]+v, size[i]+math.Abs(v) })
						}
						loop := Reduce{Op: ReduceSum, Axes: mask, Accumulate: true}.Bind(Dense(to, kept), []Layout{x.Layout})
						loop.Run(c, 0, loop.Units)
						for i, w := range want {
							tol := 4 * 0x1p-24 * size[i] // three additions of at most eight terms, and the last rounding
							if dt == F64 {
								tol = float64(2*terms) * 0x1p-53 * size[i] // its rounding, and that of the reference
							}
							if got := element(to, c.Out, i); !same(got, w, tol) {
								t.Fatalf("%v %d×%d over %b to %v: sum %d is %v, want %v", dt, rows, cols, mask, to, i, got, w)
							}
						}
					}
				}
			}
		}
	}
}

func TestArg(t *testing.T) { atLevels(t, testArg) }

func testArg(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	coarse := func(r *rand.Rand) float64 { return float64(r.IntN(5)) } // many ties
	for _, dims := range shapes(r) {
		if len(dims) == 0 {
			continue
		}
		axis := r.IntN(len(dims))
		for _, greatest := range []bool{false, true} {
			for _, dt := range []DType{F32, F64, I32, I64, Bool} {
				value := coarse
				if dt <= F64 && r.IntN(2) == 0 {
					value = special
				}
				x := random(r, dt, value, dims...)
				want := func(ix []int) float64 {
					arg, best := -1, 0.0
					folds(x, 1<<axis, ix, func(i int, v float64) {
						if arg < 0 || !math.IsNaN(best) && (math.IsNaN(v) || greatest && v > best || !greatest && v < best) {
							arg, best = i, v
						}
					})
					return float64(arg)
				}
				for _, to := range []DType{I32, I64} {
					check(t, Arg{Max: greatest, Axis: axis - len(dims)}, to, keptDims(dims, 1<<axis), []array{x}, 0, want)
				}
			}
		}
	}
}

// TestSumOfShortRows: rows of a few elements, one after the other, add up to the same bits as rows
// apart from each other, a negative zero and what is not finite among them.
func TestSumOfShortRows(t *testing.T) { atLevels(t, testSumOfShortRows) }

func testSumOfShortRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, dt := range []DType{F32, F64} {
		for n := 2; n <= 5; n++ {
			for _, rows := range []int{1, 7, 16, 33, 3000} {
				dense, apart := Dense(dt, rows, n), Dense(dt, rows, n)
				apart.Strides[0] = n + 1
				memory := Alloc(rows * (n + 1) * dt.Size())
				side := Alloc(rows * n * dt.Size())
				for i := range rows {
					for j := range n {
						v := special(r)
						if r.IntN(3) > 0 {
							v = plain(r)
						}
						set(dt, memory, i*(n+1)+j, v)
						set(dt, side, i*n+j, v)
					}
				}
				for _, op := range []ReduceOp{ReduceSum, ReduceMean} {
					run := func(l Layout, m Mem) Mem {
						c, loop := NewCtx(), Reduce{Op: op, Axes: 2}.Bind(Dense(dt, rows), []Layout{l})
						c.In, c.Out = []Mem{m}, Alloc(rows*dt.Size())
						loop.Run(c, 0, loop.Units)
						return c.Out
					}
					a, b := run(dense, side), run(apart, memory)
					for i := range rows {
						x, y := element(dt, a, i), element(dt, b, i)
						if math.Float64bits(x) != math.Float64bits(y) && !(math.IsNaN(x) && math.IsNaN(y)) {
							t.Fatalf("%v, row %d of %d elements: %v, apart %v", dt, i, n, x, y)
						}
					}
				}
			}
		}
	}
}
