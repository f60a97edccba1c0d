package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Arithmetic. Integers wrap around on overflow. Max and Min give NaN where either operand is NaN,
// and order -0 before 0.
var (
	Neg    = Unary{Function: simd.Neg}
	Abs    = Unary{Function: simd.Abs}
	Sign   = Unary{Function: simd.Sign} // Sign(±0) is 0, Sign(NaN) NaN
	Square = Unary{Function: simd.Square}
	Relu   = Unary{Function: simd.Relu} // max(x, 0): Relu(NaN) is NaN

	// These take floats only.
	Sqrt       = Unary{Function: simd.Sqrt}
	Rsqrt      = Unary{Function: simd.Rsqrt} // 1/√x
	Reciprocal = Unary{Function: simd.Reciprocal}

	Add = Binary{Operation: simd.Add}
	Sub = Binary{Operation: simd.Sub}
	Mul = Binary{Operation: simd.Mul}
	Div = Binary{Operation: simd.Div} // floats only
	Max = Binary{Operation: simd.Max}
	Min = Binary{Operation: simd.Min}
)
