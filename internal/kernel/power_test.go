package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/exact"
)

// TestPowersOfFloat64: powers of float64 err by less than two units in the last place, whatever the
// exponent; math.Pow errs by more where it is not small.
func TestPowersOfFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const n = 4000
	var x, y []float64
	for i := range n {
		v := math.Abs(r.NormFloat64())
		switch i % 4 {
		case 1:
			v = 1 + math.Ldexp(r.NormFloat64(), -r.IntN(40)-3)
		case 2:
			v = math.Ldexp(v, r.IntN(1000)-500)
		case 3:
			v = math.Sqrt2/2 + math.Ldexp(r.NormFloat64(), -r.IntN(40)-3)
		}
		w := 690 * (2*r.Float64() - 1) / math.Log(v)
		if i%3 == 0 {
			w = math.Round(4*r.NormFloat64()) / 2
		}
		if math.Abs(w*math.Log(v)) < 699 {
			x, y = append(x, v), append(y, w)
		}
	}
	atLevels(t, func(t *testing.T) {
		got := poweredBy(t, x, y)
		worst, at := 0.0, 0
		for i, v := range x {
			want := exact.Exp(exact.Mul(exact.Of(y[i]), exact.Log(exact.Of(v))))
			nearest, _ := want.Float64()
			off, _ := new(big.Float).Abs(exact.Sub(exact.Of(got[i]), want)).Float64()
			if e := off / (math.Nextafter(nearest, math.Inf(1)) - nearest); e > worst {
				worst, at = e, i
			}
		}
		t.Logf("%v units in the last place", worst)
		if !(worst < 2) {
			t.Errorf("%v^%v is %v, off by %v units in the last place", x[at], y[at], got[at], worst)
		}
	})
}

// TestSpecialPowers: special operands have the powers that package math gives them.
func TestSpecialPowers(t *testing.T) {
	some := []float64{0, 1, 2, 3, 0.5, 1.5, 1e-310, 5e-324, 0x1p-1022, 1e300, math.MaxFloat64, 0x1p53, 0x1p53 + 2, 1<<52 + 1, 1024, 1074, 0.999, math.Inf(1), math.NaN()}
	var x, y []float64
	for _, v := range some {
		for _, w := range some {
			x, y = append(x, v, -v, v, -v), append(y, w, w, -w, -w)
		}
	}
	atLevels(t, func(t *testing.T) {
		for i, got := range poweredBy(t, x, y) {
			want := math.Pow(x[i], y[i])
			near := math.Abs(got-want) <= 1e-14*math.Abs(want) && math.Signbit(got) == math.Signbit(want)
			if got != want && !near && !(got != got && want != want) {
				t.Errorf("%v^%v is %v, want %v", x[i], y[i], got, want)
			}
		}
	})
}

// TestWholePowersOfFloat64: powers that are whole numbers, or have few digits, are exact, so that a
// conversion to integers does not lose one; and so are powers of two.
func TestWholePowersOfFloat64(t *testing.T) {
	var x, y, want []float64
	add := func(v, w, power float64) { x, y, want = append(x, v), append(y, w), append(want, power) }
	for _, v := range []float64{2, 3, 5, 6, 7, 10, 12, 97, 1000, 1.5, 0.75, 0.5, 1 + 0x1p-20} {
		power := 1.0
		for w := 0.0; w < 60; w++ {
			add(v, w, power)
			add(-v, w, math.Copysign(power, 1-2*math.Mod(w, 2)))
			add(v, -w, 1/power)
			exact, accuracy := new(big.Float).SetPrec(200).Mul(big.NewFloat(power), big.NewFloat(v)).Float64()
			if power = exact; accuracy != big.Exact {
				break
			}
		}
	}
	for n := -1000; n <= 1000; n += 37 {
		add(2, float64(n), math.Ldexp(1, n))
	}
	atLevels(t, func(t *testing.T) {
		for i, got := range poweredBy(t, x, y) {
			if got != want[i] {
				t.Errorf("%v^%v is %v, want %v", x[i], y[i], got, want[i])
			}
		}
	})
}

func poweredBy(t *testing.T, x, y []float64) []float64 {
	t.Helper()
	out := Dense(F64, len(x))
	loop := Zip{Of: math.Pow, Wide: WidePow}.Bind(out, []Layout{out, out})
	var in []array
	for _, values := range [][]float64{x, y} {
		a := array{out, Alloc(8 * len(values))}
		copy(raw[float64](a.mem), values)
		in = append(in, a)
	}
	c := dirty(worker, in)
	c.Out = Alloc(8 * len(x))
	loop.Run(c, 0, loop.Units)
	return sliceAt[float64](at(c.Out, 0), len(x))
}
