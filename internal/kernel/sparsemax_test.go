package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSparsemax holds rows of any layout to the τ that bisection finds, in place too.
func TestSparsemax(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 6))
	dims := append(shapes(r), []int{1}, []int{3, 2000}, []int{2000, 3})
	for _, d := range dims {
		if len(d) == 0 {
			continue
		}
		axis := r.IntN(len(d))
		for dt, tol := range map[DType]float64{F32: 1e-6, F64: 1e-14} {
			for _, value := range []func(*rand.Rand) float64{plain, special, func(r *rand.Rand) float64 { return float64(r.IntN(3)) / 4 }} {
				x := random(r, dt, value, d...)
				type level struct{ most, τ float64 }
				rows := map[string]level{}
				check(t, Sparsemax{Axis: axis - len(d)}, dt, d, []array{x}, tol, func(ix []int) float64 {
					at := slices.Clone(ix)
					at[axis] = 0
					key := fmt.Sprint(at)
					if _, ok := rows[key]; !ok {
						var row []float64
						for at[axis] = range d[axis] {
							row = append(row, x.get(at...))
						}
						most := slices.Max(row)
						for i := range row {
							row[i] -= most
						}
						rows[key] = level{most, bisected(row)}
					}
					if math.IsNaN(rows[key].τ) {
						return math.NaN()
					}
					return max(0, x.get(ix...)-rows[key].most-rows[key].τ)
				})
			}
		}
	}
}

// bisected is the τ of a row whose greatest element is 0, NaN where there is a NaN.
func bisected(row []float64) float64 {
	if slices.ContainsFunc(row, math.IsNaN) {
		return math.NaN()
	}
	lo, hi := -1.0, 0.0
	for range 200 {
		sum, τ := 0.0, lo+(hi-lo)/2
		for _, v := range row {
			sum += max(0, v-τ)
		}
		if sum > 1 {
			lo = τ
		} else {
			hi = τ
		}
	}
	return hi
}

// Rows of a thousand numbers: of a wide spread, and so near each other that all are in the support.
func BenchmarkSparsemax(b *testing.B) {
	for _, spread := range []float32{1, 1e-4} {
		b.Run(fmt.Sprint(spread), func(b *testing.B) {
			x := make([]float32, 1000*1000)
			for i := range x {
				x[i] = spread * float32(Random{Key: 1, Law: LawNormal}.Draw(F32, 1, 0, uint64(i)))
			}
			c := NewCtx()
			c.In, c.Out = []Mem{Of(x)}, Of(make([]float32, len(x)))
			loop := Sparsemax{Axis: 1}.Bind(Dense(F32, 1000, 1000), []Layout{Dense(F32, 1000, 1000)})
			b.ReportAllocs()
			for b.Loop() {
				loop.Run(c, 0, loop.Units)
			}
		})
	}
}
