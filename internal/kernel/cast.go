package kernel

import "math"

// Cast converts to the dtype of the result. A float becomes an integer by dropping its fraction; beyond the integer's range it
// becomes the nearest integer there is, and NaN becomes 0. A wider integer loses its upper bits. Anything but 0 is true, NaN
// too; true is 1.
type Cast struct{ elementwise }

// Bind takes one operand, of any dtype.
func (k Cast) Bind(out Layout, in []Layout) Loop {
	switch in[0].DType {
	case F32:
		return castLoop(out, in, truncate[int32, float32], truncate[int64, float32])
	case F64:
		return castLoop(out, in, truncate[int32, float64], truncate[int64, float64])
	case I32:
		return castLoop(out, in, convert[int32, int32], convert[int64, int32])
	case I64:
		return castLoop(out, in, convert[int32, int64], convert[int64, int64])
	case Bool:
		return castLoop(out, in, convert[int32, uint8], convert[int64, uint8])
	}
	panic(unsupported(k, in[0].DType))
}

func castLoop[S ordered](out Layout, in []Layout, toI32 func([]int32, []S), toI64 func([]int64, []S)) Loop {
	switch out.DType {
	case F32:
		return loop1(out, in, convert[float32, S])
	case F64:
		return loop1(out, in, convert[float64, S])
	case I32:
		return loop1(out, in, toI32)
	case I64:
		return loop1(out, in, toI64)
	case Bool:
		return loop1(out, in, nonzero[S])
	}
	panic(unsupported(Cast{}, out.DType))
}

func convert[D, S ordered](dst []D, x []S) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = D(x[i])
	}
}

func truncate[D integer, S float](dst []D, x []S) {
	x = x[:len(dst)]
	lowest := D(-1) << (8*sizeOf[D]() - 1)
	limit := -float64(lowest) // a power of two, so exact
	for i := range dst {
		switch v := float64(x[i]); {
		case math.IsNaN(v):
			dst[i] = 0
		case v >= limit:
			dst[i] = ^lowest
		case v < -limit:
			dst[i] = lowest
		default:
			dst[i] = D(v)
		}
	}
}

func nonzero[S ordered](dst []bool, x []S) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = x[i] != 0
	}
}
