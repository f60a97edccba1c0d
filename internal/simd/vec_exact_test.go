package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/exact"
)

func TestFunctionsAgainstExactOnes(t *testing.T) {
	one, half := exact.Of(1), exact.Of(0.5)
	asin := func(x *big.Float) *big.Float {
		return exact.Atan(exact.Div(x, exact.Sqrt(exact.Sub(one, exact.Mul(x, x)))))
	}
	functions := map[Function]func(x *big.Float) *big.Float{
		Exp:        exact.Exp,
		Expm1:      func(x *big.Float) *big.Float { return exact.Sub(exact.Exp(x), one) },
		Log:        exact.Log,
		Log1p:      func(x *big.Float) *big.Float { return exact.Log(exact.Add(one, x)) },
		Tanh:       exact.Tanh,
		Sigmoid:    exact.Sigmoid,
		Softplus:   exact.Softplus,
		LogSigmoid: func(x *big.Float) *big.Float { return exact.Neg(exact.Softplus(exact.Neg(x))) },
		Erf:        exact.Erf,
		Asinh:      exact.Asinh,
		Atan:       exact.Atan,
		Sin:        exact.Sin,
		Cos:        exact.Cos,
		Exp2:       func(x *big.Float) *big.Float { return exact.Exp(exact.Mul(x, exact.Log(exact.Of(2)))) },
		Log2:       func(x *big.Float) *big.Float { return exact.Div(exact.Log(x), exact.Log(exact.Of(2))) },
		Log10:      func(x *big.Float) *big.Float { return exact.Div(exact.Log(x), exact.Log(exact.Of(10))) },
		Sinh: func(x *big.Float) *big.Float {
			return exact.Mul(half, exact.Sub(exact.Exp(x), exact.Exp(exact.Neg(x))))
		},
		Cosh: func(x *big.Float) *big.Float {
			return exact.Mul(half, exact.Add(exact.Exp(x), exact.Exp(exact.Neg(x))))
		},
		Acosh: func(x *big.Float) *big.Float {
			return exact.Log(exact.Add(x, exact.Sqrt(exact.Sub(exact.Mul(x, x), one))))
		},
		Atanh: func(x *big.Float) *big.Float {
			return exact.Mul(half, exact.Log(exact.Div(exact.Add(one, x), exact.Sub(one, x))))
		},
		Asin:  asin,
		Acos:  func(x *big.Float) *big.Float { return exact.Sub(exact.Mul(half, exact.Pi()), asin(x)) },
		Rsqrt: func(x *big.Float) *big.Float { return exact.Div(one, exact.Sqrt(x)) },
	}
	r := rand.New(rand.NewPCG(13, 14))
	var xs []float64
	for range 1000 {
		xs = append(xs, r.NormFloat64(), r.Float64()-0.5, 4*r.NormFloat64(), 50*r.NormFloat64(),
			math.Ldexp(r.NormFloat64(), -r.IntN(30)), 1+math.Ldexp(r.NormFloat64(), -r.IntN(30)))
	}
	for f, of := range functions {
		x, want := []float64{}, []*big.Float{}
		for _, v := range xs {
			switch f {
			case Log, Log2, Log10, Rsqrt:
				v = math.Abs(v)
			case Acosh:
				v = 1 + math.Abs(v)
			case Atanh, Asin, Acos:
				v = max(min(v, 1-0x1p-40), 0x1p-40-1)
			case Log1p:
				v = max(v, -1+math.Abs(v)*0x1p-10)
			case Erf:
				v = max(min(v, 5.9), -5.9)
			}
			if v != 0 && (v != 1 || f != Log && f != Log2 && f != Log10 && f != Acosh) {
				x, want = append(x, v), append(want, of(exact.Of(v)))
			}
		}
		got := make([]float64, len(x))
		for _, level := range levels()[1:] {
			apply(MapOf[float64](level, f), got, x)
			worst, at := 0.0, 0.0
			for i, w := range want {
				nearest, _ := w.Float64()
				off, _ := exact.Sub(exact.Of(got[i]), w).Float64()
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
