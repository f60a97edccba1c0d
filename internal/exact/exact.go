// Package exact computes elementary functions in 400 bits, for tests of those in 24 or 53 bits:
// package math errs by as much as the functions under test. Arguments may be up to some hundreds,
// those of Erf, Sin and Cos up to ten, those of Lgamma and Polygamma positive.
package exact

import (
	"math"
	"math/big"
)

// Bits is the precision of the results.
const Bits = 400

// Of returns x.
func Of(x float64) *big.Float { return number().SetFloat64(x) }

func number() *big.Float { return new(big.Float).SetPrec(Bits) }

// Add, Sub, Mul and Div are the operations of arithmetic, Neg is −a and Sqrt is √a.
func Add(a, b *big.Float) *big.Float { return number().Add(a, b) }
func Sub(a, b *big.Float) *big.Float { return number().Sub(a, b) }
func Mul(a, b *big.Float) *big.Float { return number().Mul(a, b) }
func Div(a, b *big.Float) *big.Float { return number().Quo(a, b) }
func Neg(a *big.Float) *big.Float    { return number().Neg(a) }
func Sqrt(a *big.Float) *big.Float   { return number().Sqrt(a) }

// Pi is π.
func Pi() *big.Float {
	pi, _ := number().SetString("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
	return pi
}

// series adds terms until they no longer count.
func series(first *big.Float, next func(term *big.Float, n int) *big.Float) *big.Float {
	sum, term := first, first
	for n := 1; term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-Bits; n++ {
		term = next(term, n)
		sum = Add(sum, term)
	}
	return sum
}

// Exp is eˣ. It halves the argument until the series is short, and squares the result as often.
func Exp(x *big.Float) *big.Float {
	const halvings = 20
	small := number().SetMantExp(x, -halvings)
	e := series(Of(1), func(term *big.Float, n int) *big.Float { return Div(Mul(term, small), Of(float64(n))) })
	for range halvings {
		e = Mul(e, e)
	}
	return e
}

// Log is the natural logarithm. It improves on math.Log: each step triples the digits.
func Log(x *big.Float) *big.Float {
	mantissa := number()
	exponent := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := Of(math.Log(m) + float64(exponent)*math.Ln2)
	for range 3 {
		e := Exp(y)
		y = Add(y, Mul(Of(2), Div(Sub(x, e), Add(x, e))))
	}
	return y
}

// Sigmoid is 1/(1 + e⁻ˣ).
func Sigmoid(x *big.Float) *big.Float { return Div(Of(1), Add(Of(1), Exp(Neg(x)))) }

// Softplus is log(1 + eˣ).
func Softplus(x *big.Float) *big.Float { return Log(Add(Of(1), Exp(x))) }

// Tanh is the hyperbolic tangent.
func Tanh(x *big.Float) *big.Float {
	e := Exp(Add(x, x))
	return Div(Sub(e, Of(1)), Add(e, Of(1)))
}

// Asinh is the inverse hyperbolic sine.
func Asinh(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return Neg(Asinh(Neg(x))) // the sum below would cancel
	}
	return Log(Add(x, Sqrt(Add(Of(1), Mul(x, x)))))
}

// Erf is the error function, 2/√π · Σ (-1)ⁿ x²ⁿ⁺¹ / (n!·(2n+1)).
func Erf(x *big.Float) *big.Float {
	square, power := Mul(x, x), x
	sum := series(x, func(_ *big.Float, n int) *big.Float {
		power = Div(Mul(power, square), Of(float64(-n)))
		return Div(power, Of(float64(2*n+1)))
	})
	return Div(Mul(Of(2), sum), Sqrt(Pi()))
}

// Sin is the sine, by Taylor's series.
func Sin(x *big.Float) *big.Float {
	minusSquare := Mul(x, Neg(x))
	return series(x, func(term *big.Float, n int) *big.Float { return Div(Mul(term, minusSquare), Of(float64(2*n*(2*n+1)))) })
}

// Cos is the cosine, by Taylor's series.
func Cos(x *big.Float) *big.Float {
	minusSquare := Mul(x, Neg(x))
	return series(Of(1), func(term *big.Float, n int) *big.Float { return Div(Mul(term, minusSquare), Of(float64(2*n*(2*n-1)))) })
}
