package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Elementary functions of floats, with the special values of package math. They err by at most 1.5 units in the last place, Sigmoid,
// Softplus and LogSigmoid by 2.5.
var (
	Exp        = Unary{Function: simd.Exp}
	Log        = Unary{Function: simd.Log}
	Log1p      = Unary{Function: simd.Log1p}
	Expm1      = Unary{Function: simd.Expm1}
	Tanh       = Unary{Function: simd.Tanh}
	Sigmoid    = Unary{Function: simd.Sigmoid}
	Softplus   = Unary{Function: simd.Softplus}
	LogSigmoid = Unary{Function: simd.LogSigmoid}
	Sin        = Unary{Function: simd.Sin}
	Cos        = Unary{Function: simd.Cos}
	Erf        = Unary{Function: simd.Erf}
	Pow        = Binary{Operation: simd.Pow}
)
