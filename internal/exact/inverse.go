package exact

import (
	"math"
	"math/big"
)

// Atan is the inverse tangent. It halves the angle until the series is short.
func Atan(x *big.Float) *big.Float {
	const halvings = 10
	for range halvings {
		x = Div(x, Add(Of(1), Sqrt(Add(Of(1), Mul(x, x)))))
	}
	minusSquare, power := Mul(x, Neg(x)), x
	sum := series(x, func(_ *big.Float, n int) *big.Float {
		power = Mul(power, minusSquare)
		return Div(power, Of(float64(2*n+1)))
	})
	return number().SetMantExp(sum, halvings)
}

// Erfinv is the inverse error function. It improves on math.Erfinv by Newton's method.
func Erfinv(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := Of(math.Erfinv(f))
	for range 5 {
		slope := Div(Mul(Of(2), Exp(Neg(Mul(y, y)))), Sqrt(Pi()))
		y = Sub(y, Div(Sub(Erf(y), x), slope))
	}
	return y
}
