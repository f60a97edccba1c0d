package kernel

import "math"

// Arithmetic. Integers wrap around on overflow. Max and Min give NaN where either operand is NaN, and order -0 before 0.
var (
	Neg    = Unary{F32: neg[float32], F64: neg[float64], I32: neg[int32], I64: neg[int64]}
	Abs    = Unary{F32: absFloat[float32], F64: absFloat[float64], I32: absInt[int32], I64: absInt[int64]}
	Sign   = Unary{F32: sign[float32], F64: sign[float64], I32: sign[int32], I64: sign[int64]} // Sign(±0) is 0, Sign(NaN) NaN
	Square = Unary{F32: square[float32], F64: square[float64], I32: square[int32], I64: square[int64]}
	Relu   = Unary{F32: relu[float32], F64: relu[float64], I32: relu[int32], I64: relu[int64]} // max(x, 0): Relu(NaN) is NaN

	Sqrt       = Unary{F32: sqrt[float32], F64: sqrt[float64]}
	Reciprocal = Unary{F32: reciprocal[float32], F64: reciprocal[float64]}

	Add = Binary{F32: add[float32], F64: add[float64], I32: add[int32], I64: add[int64]}
	Sub = Binary{F32: sub[float32], F64: sub[float64], I32: sub[int32], I64: sub[int64]}
	Mul = Binary{F32: mul[float32], F64: mul[float64], I32: mul[int32], I64: mul[int64]}
	Div = Binary{F32: div[float32], F64: div[float64]}
	Max = Binary{F32: maxOf[float32], F64: maxOf[float64], I32: maxOf[int32], I64: maxOf[int64]}
	Min = Binary{F32: minOf[float32], F64: minOf[float64], I32: minOf[int32], I64: minOf[int64]}
)

func neg[T number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = -x[i]
	}
}

func absFloat[T float](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Abs(float64(x[i])))
	}
}

func absInt[T integer](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = max(x[i], -x[i])
	}
}

func sign[T number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		switch v := x[i]; {
		case v > 0:
			dst[i] = 1
		case v < 0:
			dst[i] = -1
		case v == 0:
			dst[i] = 0
		default:
			dst[i] = v
		}
	}
}

func square[T number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * x[i]
	}
}

func relu[T number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = max(x[i], 0)
	}
}

func sqrt[T float](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Sqrt(float64(x[i])))
	}
}

func reciprocal[T float](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = 1 / x[i]
	}
}

func add[T number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func sub[T number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

func mul[T number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

func div[T float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

func maxOf[T number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = max(x[i], y[i])
	}
}

func minOf[T number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = min(x[i], y[i])
	}
}
