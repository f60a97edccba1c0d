package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Cast converts to the dtype of the result. A float becomes an integer by dropping its fraction;
// beyond the integer's range it becomes the nearest integer there is, and NaN becomes 0. A wider
// integer loses its upper bits. Anything but 0 is true, NaN too; true is 1.
type Cast struct{ elementwise }

func (Cast) cheap() bool { return true }

// Bind takes one operand, of any dtype.
func (k Cast) Bind(out Layout, in []Layout) Bound {
	if isNarrow(out.DType) || isNarrow(in[0].DType) {
		return mapLoop(narrowCast(out.DType, in[0].DType), out, in[0])
	}
	switch in[0].DType {
	case F32:
		return castLoop[float32](out, in)
	case F64:
		return castLoop[float64](out, in)
	case I32:
		return castLoop[int32](out, in)
	case I64:
		return castLoop[int64](out, in)
	case Bool:
		return castLoop[uint8](out, in)
	}
	panic(unsupported(k, in[0].DType))
}

// castLoop converts from S.
func castLoop[S simd.Ordered](out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return mapLoop(simd.CastOf[float32, S](level), out, in[0])
	case F64:
		return mapLoop(simd.CastOf[float64, S](level), out, in[0])
	case I32:
		return mapLoop(simd.CastOf[int32, S](level), out, in[0])
	case I64:
		return mapLoop(simd.CastOf[int64, S](level), out, in[0])
	case Bool:
		return mapLoop(simd.TruthOf[S](level), out, in[0])
	}
	panic(unsupported(Cast{}, out.DType))
}
