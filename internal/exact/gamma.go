package exact

import (
	"math"
	"math/big"
	"sync"
)

// far is how often the recurrence raises an argument by 1: from there on, the terms of the asymptotic
// series fall below 2⁻⁴⁰⁰ before they grow.
const far = 80

// Lgamma is the logarithm of the gamma function.
func Lgamma(x *big.Float) *big.Float {
	product := Of(1)
	for range far {
		product, x = Mul(product, x), Add(x, Of(1))
	}
	sum := Sub(Mul(Sub(x, Of(0.5)), Log(x)), x)
	sum = Add(sum, Mul(Of(0.5), Log(Mul(Of(2), Pi()))))
	power := x
	for i, b := range bernoulli() {
		k := float64(2*i + 2)
		sum, power = Add(sum, Div(b, Mul(Of(k*(k-1)), power))), Mul(power, Mul(x, x))
	}
	return Sub(sum, Log(product))
}

// Polygamma is the derivative n + 1 of Lgamma.
func Polygamma(n int, x *big.Float) *big.Float {
	factorial := Of(math.Gamma(float64(n + 1)))
	raised := func(x *big.Float, n int) *big.Float {
		y := Of(1)
		for range n {
			y = Mul(y, x)
		}
		return y
	}
	sum := Of(0) // of ±ψ/n!
	for range far {
		sum, x = Add(sum, Div(Of(1), raised(x, n+1))), Add(x, Of(1))
	}
	if n == 0 {
		sum = Sub(sum, Log(x))
	} else {
		sum = Add(sum, Div(Of(1), Mul(Of(float64(n)), raised(x, n))))
	}
	sum = Add(sum, Div(Of(0.5), raised(x, n+1)))
	ratio := Div(Of(float64(n+1)), Of(2)) // (2k+n−1)!/((2k)!·n!)
	for i, b := range bernoulli() {
		k := 2*i + 2
		sum = Add(sum, Div(Mul(b, ratio), raised(x, k+n)))
		ratio = Div(Mul(ratio, Of(float64((k+n)*(k+n+1)))), Of(float64((k+1)*(k+2))))
	}
	if n%2 == 0 {
		factorial = Neg(factorial)
	}
	return Mul(factorial, sum)
}

// bernoulli returns the numbers B₂, B₄, …, B₁₂₀ (by the algorithm of Akiyama and Tanigawa).
var bernoulli = sync.OnceValue(func() (out []*big.Float) {
	const most = 120
	row := make([]*big.Rat, most+1)
	for m := range row {
		row[m] = big.NewRat(1, int64(m+1))
		for j := m; j > 0; j-- {
			row[j-1] = new(big.Rat).Mul(big.NewRat(int64(j), 1), new(big.Rat).Sub(row[j-1], row[j]))
		}
		if m > 0 && m%2 == 0 {
			out = append(out, number().SetRat(row[0]))
		}
	}
	return out
})
