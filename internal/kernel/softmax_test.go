package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestSoftmax(t *testing.T) { atLevels(t, testSoftmax) }

func testSoftmax(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range append(shapes(r), []int{3, 5, 300}, []int{4, 2000, 2}) {
		if len(dims) == 0 {
			continue
		}
		axis := r.IntN(len(dims))
		for _, dt := range []DType{F32, F64} {
			tol := map[DType]float64{F32: 1e-6, F64: 1e-13}[dt]
			for _, shift := range []float64{0, 1000, -1000} {
				x := random(r, dt, func(r *rand.Rand) float64 { return shift + plain(r) }, dims...)
				// logSum takes the differences from the shift: as stable, another way.
				logSum := func(ix []int) float64 {
					sum := 0.0
					folds(x, 1<<axis, ix, func(_ int, v float64) { sum += math.Exp(v - shift) })
					return shift + math.Log(sum)
				}
				rows := map[string]float64{}
				of := func(ix []int) float64 {
					kept := keptDims(ix, 1<<axis)
					key := fmt.Sprint(kept)
					if _, ok := rows[key]; !ok {
						rows[key] = logSum(kept)
					}
					return rows[key]
				}
				check(t, LogSumExp{Axis: axis}, dt, keptDims(dims, 1<<axis), []array{x}, tol*max(10, math.Abs(shift)), logSum)
				check(t, Softmax{Axis: axis}, dt, dims, []array{x}, tol*max(1, math.Abs(shift)/100), func(ix []int) float64 { return math.Exp(x.get(ix...) - of(ix)) })
				check(t, Softmax{Axis: axis - len(dims), Log: true}, dt, dims, []array{x}, tol*max(20, math.Abs(shift)/100), func(ix []int) float64 { return x.get(ix...) - of(ix) })
			}
		}
	}
}

// Weights far below the greatest are 0, never subnormal; the others are as if there were none, and
// rows still add up to 1.
func TestSoftmaxFlushes(t *testing.T) { atLevels(t, testSoftmaxFlushes) }

func testSoftmaxFlushes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for dt, least := range map[DType]float64{F32: 0x1p-102, F64: 0x1p-998} { // of the greatest
		scale := -math.Log(least) // the smallest weights lie around that
		for axis, dims := range [][]int{{80, 40}, {40, 80}} {
			x := styled(r, styleDense, dt, func(r *rand.Rand) float64 { return scale * (r.Float64() + r.Float64()/8) }, dims...)
			out := Dense(dt, dims...)
			c := dirty(worker, []array{x})
			c.Out = Alloc(out.Len() * dt.Size())
			loop := Softmax{Axis: axis}.Bind(out, []Layout{x.Layout})
			loop.Run(c, 0, loop.Units)
			y := array{out, c.Out}
			var zeros, small int
			for row := range 40 {
				peak, total, sum := math.Inf(-1), 0.0, 0.0
				folds(x, 1<<axis, []int{row}, func(_ int, v float64) { peak = max(peak, v) })
				folds(x, 1<<axis, []int{row}, func(_ int, v float64) { total += math.Exp(v - peak) })
				for i := range 80 {
					ix := [][]int{{i, row}, {row, i}}[axis]
					got, weight := y.get(ix...), math.Exp(x.get(ix...)-peak)
					want := weight / total
					sum += got
					switch near := math.Abs(got-want) <= 1e-4*want; {
					case got != 0 && weight < 0.999*least:
						t.Fatalf("%v along %d: %v is not 0", dt, axis, got)
					case got == 0 && weight > 1.001*least || got != 0 && !near:
						t.Fatalf("%v along %d: a weight is %v, want %v", dt, axis, got, want)
					case got == 0:
						zeros++
					case got < 1e10*least:
						small++
					}
				}
				if math.Abs(sum-1) > 1e-6 {
					t.Errorf("%v along %d: row %d adds up to %v", dt, axis, row, sum)
				}
			}
			if zeros == 0 || small == 0 {
				t.Errorf("%v along %d: %d zeros and %d small weights: the example shows nothing", dt, axis, zeros, small)
			}
		}
	}
}

func TestSoftmaxOfSpecialValues(t *testing.T) { atLevels(t, testSoftmaxOfSpecialValues) }

func testSoftmaxOfSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		row       []float64
		logSumExp float64
		softmax   []float64
	}{
		{[]float64{-inf, -inf, -inf}, -inf, []float64{nan, nan, nan}},
		{[]float64{1, inf, 2}, inf, []float64{nan, nan, nan}},
		{[]float64{1, nan, inf}, nan, []float64{nan, nan, nan}},
		{[]float64{0, -inf, 0}, math.Ln2, []float64{0.5, 0, 0.5}},
		{[]float64{1e4, -1e4, -inf}, 1e4, []float64{1, 0, 0}},
	} {
		// One row, and the same beside itself as columns.
		across := make([]float64, 6)
		for i, v := range c.row {
			across[2*i], across[2*i+1] = v, v
		}
		for _, x := range []array{{Dense(F64, 3, 1), Of(c.row)}, {Dense(F64, 3, 2), Of(across)}} {
			dims := x.shape()
			check(t, LogSumExp{}, F64, dims[1:], []array{x}, 0, func([]int) float64 { return c.logSumExp })
			check(t, Softmax{}, F64, dims, []array{x}, 0, func(ix []int) float64 { return c.softmax[ix[0]] })
			check(t, Softmax{Log: true}, F64, dims, []array{x}, 1e-15, func(ix []int) float64 {
				if math.IsInf(c.logSumExp, 0) {
					return nan
				}
				return c.row[ix[0]] - c.logSumExp
			})
		}
	}
	empty := array{Dense(F32, 2, 0), Mem{}}
	check(t, LogSumExp{Axis: 1}, F32, []int{2}, []array{empty}, 0, func([]int) float64 { return -inf })
	check(t, Softmax{Axis: 1}, F32, []int{2, 0}, []array{empty}, 0, nil)
}
