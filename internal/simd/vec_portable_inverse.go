package simd

import "math"

// Of returns the function of one number, in plain Go: what the loops are approximations of. It
// panics for functions that have a loop in plain Go.
func (f Function) Of(x float64) float64 { return elementary[f](x) }

// binaryLog keeps the digits near 1, where math.Log2 adds an exponent to a logarithm.
func binaryLog(x float64) float64 {
	if mantissa, exponent := math.Frexp(x); mantissa == 0.5 {
		return float64(exponent - 1)
	}
	return log(x) / math.Ln2
}

// decimalLog keeps the digits near 1, likewise.
func decimalLog(x float64) float64 {
	y := log(x) / math.Ln10
	if n := math.RoundToEven(y); 0 <= n && n <= 22 && math.Pow10(int(n)) == x { // beyond, powers of ten are rounded
		return n
	}
	return y
}

// arcSine and arcCosine keep the digits near ±1, where math.Asin and math.Acos lose half of them.
func arcSine(x float64) float64   { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }
func arcCosine(x float64) float64 { return math.Atan2(math.Sqrt((1-x)*(1+x)), x) }

// hyperbolicSine and hyperbolicCosine are finite beyond 709.78, where package math takes powers of
// e that are not.
func hyperbolicSine(x float64) float64 {
	if math.Abs(x) < 700 {
		return math.Sinh(x)
	}
	return math.Copysign(hyperbolicCosine(x), x)
}

func hyperbolicCosine(x float64) float64 {
	if math.Abs(x) < 700 {
		return math.Cosh(x)
	}
	root := math.Exp(math.Abs(x) / 2)
	return root / 2 * root
}
