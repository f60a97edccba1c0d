package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Functions of float64 in 400 bits: package math errs by as much as what is to be tested.
const precision = 400

func wide(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func plus(a, b *big.Float) *big.Float  { return new(big.Float).SetPrec(precision).Add(a, b) }
func minus(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sub(a, b) }
func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(a, b) }
func over(a, b *big.Float) *big.Float  { return new(big.Float).SetPrec(precision).Quo(a, b) }

// series adds terms until they no longer count.
func series(first *big.Float, next func(term *big.Float, n int) *big.Float) *big.Float {
	sum, term := first, first
	for n := 1; term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-precision; n++ {
		term = next(term, n)
		sum = plus(sum, term)
	}
	return sum
}

// exactExp halves the argument until the series is short, and squares the result as often.
func exactExp(x *big.Float) *big.Float {
	const halvings = 20
	small := new(big.Float).SetMantExp(x, -halvings)
	e := series(wide(1), func(term *big.Float, n int) *big.Float { return over(times(term, small), wide(float64(n))) })
	for range halvings {
		e = times(e, e)
	}
	return e
}

// exactLog improves on math.Log: each step triples the digits.
func exactLog(x *big.Float) *big.Float {
	mantissa := new(big.Float).SetPrec(precision)
	exponent := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := wide(math.Log(m) + float64(exponent)*math.Ln2)
	for range 3 {
		e := exactExp(y)
		y = plus(y, times(wide(2), over(minus(x, e), plus(x, e))))
	}
	return y
}

// exactErf is 2/√π · Σ (-1)ⁿ x²ⁿ⁺¹ / (n!·(2n+1)).
func exactErf(x *big.Float) *big.Float {
	square := times(x, x)
	power := x
	sum := series(x, func(_ *big.Float, n int) *big.Float {
		power = over(times(power, square), wide(float64(-n)))
		return over(power, wide(float64(2*n+1)))
	})
	pi, _ := new(big.Float).SetPrec(precision).SetString("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
	return over(times(wide(2), sum), new(big.Float).SetPrec(precision).Sqrt(pi))
}

// exactSin and exactCos are Taylor's series.
func exactSin(x *big.Float) *big.Float {
	minusSquare := times(x, wide(0).Neg(x))
	return series(x, func(term *big.Float, n int) *big.Float {
		return over(times(term, minusSquare), wide(float64(2*n*(2*n+1))))
	})
}

func exactCos(x *big.Float) *big.Float {
	minusSquare := times(x, wide(0).Neg(x))
	return series(wide(1), func(term *big.Float, n int) *big.Float {
		return over(times(term, minusSquare), wide(float64(2*n*(2*n-1))))
	})
}

func TestFunctionsAgainstExactOnes(t *testing.T) {
	one := wide(1)
	exact := map[Function]func(x *big.Float) *big.Float{
		Exp:     exactExp,
		Expm1:   func(x *big.Float) *big.Float { return minus(exactExp(x), one) },
		Log:     func(x *big.Float) *big.Float { return exactLog(x.Abs(x)) },
		Log1p:   func(x *big.Float) *big.Float { return exactLog(plus(one, x)) },
		Tanh:    func(x *big.Float) *big.Float { e := exactExp(plus(x, x)); return over(minus(e, one), plus(e, one)) },
		Sigmoid: func(x *big.Float) *big.Float { return over(one, plus(one, exactExp(x.Neg(x)))) },
		Erf:     exactErf,
		Sin:     exactSin,
		Cos:     exactCos,
		Rsqrt:   func(x *big.Float) *big.Float { return over(one, new(big.Float).SetPrec(precision).Sqrt(x.Abs(x))) },
	}
	r := rand.New(rand.NewPCG(13, 14))
	var xs []float64
	for range 2000 {
		xs = append(xs, r.NormFloat64(), r.Float64()-0.5, 4*r.NormFloat64(), math.Ldexp(r.NormFloat64(), -r.IntN(30)), 1+math.Ldexp(r.NormFloat64(), -r.IntN(30)))
	}
	for f, of := range exact {
		x, want := []float64{}, []*big.Float{}
		for _, v := range xs {
			switch f {
			case Log, Rsqrt:
				v = math.Abs(v)
			case Log1p:
				v = max(v, -1+math.Abs(v)*0x1p-10)
			case Erf:
				v = max(min(v, 5.9), -5.9)
			}
			if v != 0 && (f != Log || v != 1) {
				x, want = append(x, v), append(want, of(wide(v)))
			}
		}
		got := make([]float64, len(x))
		for _, level := range levels()[1:] {
			apply(MapOf[float64](level, f), got, x)
			worst, at := 0.0, 0.0
			for i, w := range want {
				nearest, _ := w.Float64()
				off, _ := minus(wide(got[i]), w).Float64()
				if e := math.Abs(off) / unitOf(nearest); e > worst {
					worst, at = e, x[i]
				}
			}
			if ref := references[f]; worst > ref.ulps {
				t.Errorf("%v: %s of %v errs by %v units in the last place, not %v", level, ref.name, at, worst, ref.ulps)
			} else {
				t.Logf("%v: %s of %v errs by %.3f units in the last place", level, ref.name, at, worst)
			}
		}
	}
}
