package kernel

import "math"

// Elementary functions, with the special values of package math. The float32 loops compute in float64 and round once.
var (
	Exp     = Each1(math.Exp)
	Log     = Each1(math.Log)
	Log1p   = Each1(math.Log1p)
	Expm1   = Each1(math.Expm1)
	Tanh    = Each1(math.Tanh)
	Sigmoid = Each1(sigmoid)
	Sin     = Each1(math.Sin)
	Cos     = Each1(math.Cos)
	Erf     = Each1(math.Erf)
	Pow     = Each2(math.Pow)
)

// Each1 builds the loops of a function of one variable: float32 is computed in float64 and rounded.
func Each1(f func(float64) float64) Unary {
	return Unary{F32: each1[float32](f), F64: each1[float64](f)}
}

// Each2 builds the loops of a function of two variables: float32 is computed in float64 and rounded.
func Each2(f func(x, y float64) float64) Binary {
	return Binary{F32: each2[float32](f), F64: each2[float64](f)}
}

func each1[T float](f func(float64) float64) func(dst, x []T) {
	return func(dst, x []T) {
		x = x[:len(dst)]
		for i := range dst {
			dst[i] = T(f(float64(x[i])))
		}
	}
}

func each2[T float](f func(x, y float64) float64) func(dst, x, y []T) {
	return func(dst, x, y []T) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = T(f(float64(x[i]), float64(y[i])))
		}
	}
}

// sigmoid never takes the exponential of a positive number, so that it neither overflows nor loses the small values.
func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}
