package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRecurrence holds recurrences, in both directions, to their definition, for operands of any
// layout.
func TestRecurrence(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, d := range append(shapes(r), []int{2, 3000}, []int{1500, 3}) {
		if len(d) == 0 {
			continue
		}
		axis := r.IntN(len(d))
		for _, dt := range []DType{F32, F64, I32, I64} {
			value := func(r *rand.Rand) float64 { return r.NormFloat64() / 2 }
			if dt >= I32 {
				value = func(r *rand.Rand) float64 { return float64(r.IntN(3) - 1) }
			}
			a, b := random(r, dt, value, d...), random(r, dt, value, d...)
			for _, back := range []bool{false, true} {
				known := map[int]float64{}
				var want func(ix []int) float64
				want = func(ix []int) float64 {
					number := 0
					for i, n := range d {
						number = number*n + ix[i]
					}
					if v, ok := known[number]; ok {
						return v
					}
					before := slices.Clone(ix)
					if before[axis]--; back {
						before[axis] += 2
					}
					v := b.get(ix...)
					if before[axis] >= 0 && before[axis] < d[axis] {
						v += a.get(ix...) * want(before)
					}
					known[number] = v
					return v
				}
				check(t, Recurrence{Axis: axis - len(d), Reverse: back}, dt, d, []array{a, b}, map[DType]float64{F32: 1e-5, F64: 1e-12}[dt], want)
			}
		}
	}
}

// TestCumArg holds indices of running extremes to their definition.
func TestCumArg(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	coarse := func(r *rand.Rand) float64 { return float64(r.IntN(5)) }
	for _, d := range shapes(r) {
		if len(d) == 0 {
			continue
		}
		axis := r.IntN(len(d))
		for _, dt := range []DType{F32, F64, I32, I64, Bool} {
			value := coarse
			if dt <= F64 && r.IntN(2) == 0 {
				value = special
			}
			x := random(r, dt, value, d...)
			for _, most := range []bool{false, true} {
				check(t, CumArg{Axis: axis - len(d), Max: most}, I64, d, []array{x}, 0, func(ix []int) float64 {
					arg, best := 0, 0.0
					at := slices.Clone(ix)
					for i := range ix[axis] + 1 {
						at[axis] = i
						v := x.get(at...)
						if i == 0 || !math.IsNaN(best) && (math.IsNaN(v) || most && v > best || !most && v < best) {
							arg, best = i, v
						}
					}
					return float64(arg)
				})
			}
		}
	}
}
