package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// wideFunctions are the functions of one operand, with the operands for which they are tried.
var wideFunctions = map[Wide]struct {
	of    func(x float64) float64
	value func(r *rand.Rand) float64
}{
	WideTan: {math.Tan, plain},
}

func positive(r *rand.Rand) float64      { return math.Exp(8 * (r.Float64() - 0.5)) }
func power(r *rand.Rand) float64         { return []float64{2, -1, 0.5, 1.7, 3 * r.NormFloat64()}[r.IntN(5)] }
func small(r *rand.Rand) float64         { return 1e-6 * r.NormFloat64() }
func huge(r *rand.Rand) float64          { return 1e20 * r.NormFloat64() }
func wideSpecial(r *rand.Rand) float64   { return []float64{special(r), 88, -89, 700, 1e6}[r.IntN(5)] }
func around(r *rand.Rand) float64        { return 1 + 0.01*r.NormFloat64() }
func exactPower(r *rand.Rand) float64    { return math.Ldexp(1, r.IntN(40)-20) }
func wholeExponent(r *rand.Rand) float64 { return float64(r.IntN(20) - 10) }

// overflowing returns v, infinite where it is too great for a float32.
func overflowing(v float64) float64 {
	if math.IsInf(float64(float32(v)), 0) {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return v
}

// TestWide: functions of float32 that are computed in float64 err by little more than half a unit
// in the last place, and have the special values of those that are given in Go.
func TestWide(t *testing.T) { atLevels(t, testWide) }

func testWide(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for w, f := range wideFunctions {
		k := Map{Of: f.of, Wide: w}
		for _, dims := range append(shapes(r), []int{3, 1500}, []int{9, 2, 3}) {
			for _, value := range []func(*rand.Rand) float64{f.value, special, wideSpecial, small, huge, around, exactPower} {
				x := random(r, F32, value, dims...)
				checkUnits(t, k, F32, dims, []array{x}, 0.51, func(ix []int) float64 { return overflowing(f.of(x.get(ix...))) })
			}
		}
	}
	for w, of := range map[Wide]func(x, y float64) float64{WidePow: math.Pow, WideAtan2: math.Atan2} {
		k := Zip{Of: of, Wide: w}
		for _, dims := range append(shapes(r), []int{3, 1500}, []int{40, 3}, []int{9, 2, 3}) {
			for _, values := range [][2]func(*rand.Rand) float64{{positive, power}, {special, special}, {plain, plain}, {small, huge}, {around, plain}, {exactPower, wholeExponent}} {
				for _, shapes := range [][2][]int{{dims, narrowed(r, dims)}, {narrowed(r, dims), dims}} {
					x, y := random(r, F32, values[0], shapes[0]...), random(r, F32, values[1], shapes[1]...)
					checkUnits(t, k, F32, dims, []array{x, y}, 0.51, func(ix []int) float64 { return overflowing(of(x.get(ix...), y.get(ix...))) })
				}
			}
		}
	}
}

// TestWideAllocatesNothing: the copies of operands are in the scratch of the worker.
func TestWideAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	out := Dense(F32, 30, 70)
	for _, dims := range [][2][]int{{{30, 70}, {30, 70}}, {{30, 70}, {1, 1}}, {{30, 1}, {1, 70}}} {
		x, y := styled(r, styleDense, F32, plain, dims[0]...), styled(r, styleDense, F32, plain, dims[1]...)
		c := dirty(worker, []array{x, y})
		c.Out = Alloc(4 * out.Len())
		loop := Zip{Of: math.Pow, Wide: WidePow}.Bind(out, []Layout{x.Layout, y.Layout})
		if n := testing.AllocsPerRun(10, func() { loop.Run(c, 0, loop.Units) }); n != 0 {
			t.Errorf("powers of %v by %v allocate %v times", dims[0], dims[1], n)
		}
	}
}
