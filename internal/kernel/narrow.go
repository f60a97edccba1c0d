package kernel

import (
	"math"

	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

// The types for storage have loops of conversion only, in plain Go but for those between float32 and
// integers of a byte. Each rounds once: from F64 to F16 too.

// The bits of NaN.
const (
	nan16    = 0x7e00
	nanBrain = 0x7fc0
)

// isNarrow reports whether a type is one for storage.
func isNarrow(d DType) bool { return d.Wide() != d }

// byteCast returns the assembly that converts between float32 and integers of a byte; nil if there is
// none.
func byteCast(to, from DType) simd.Map {
	widen, narrow := simd.ByteCastOf(level, to == I8 || from == I8)
	switch {
	case to == F32 && (from == U8 || from == I8):
		return widen
	case from == F32 && (to == U8 || to == I8):
		return narrow
	}
	return nil
}

// narrowCast returns the loop that converts from one type to another, of which one is for storage.
func narrowCast(to, from DType) simd.Map {
	if loop := byteCast(to, from); loop != nil {
		return loop
	}
	switch from {
	case F32:
		switch to {
		case F16:
			return rowLoop(func(dst []uint16, x []float32) {
				for i, v := range x {
					dst[i] = half.Bits(v)
				}
			})
		case BF16:
			return rowLoop(func(dst []uint16, x []float32) {
				for i, v := range x {
					dst[i] = half.BrainBits(v)
				}
			})
		}
		return fromFloats(to, func(v float32) float64 { return float64(v) })
	case F64:
		return fromFloats(to, func(v float64) float64 { return v })
	case F16:
		if to == F32 {
			return rowLoop(func(dst []float32, x []uint16) {
				for i, v := range x {
					dst[i] = half.Float32(v)
				}
			})
		}
		return fromFloats(to, func(bits uint16) float64 { return float64(half.Float32(bits)) })
	case BF16:
		if to == F32 {
			return rowLoop(func(dst []float32, x []uint16) {
				for i, v := range x {
					dst[i] = half.Brain(v)
				}
			})
		}
		return fromFloats(to, func(bits uint16) float64 { return float64(half.Brain(bits)) })
	case I32:
		return fromIntegers[int32](to)
	case I64:
		return fromIntegers[int64](to)
	case I8:
		return fromIntegers[int8](to)
	case Bool, U8:
		return fromIntegers[uint8](to)
	}
	panic(unsupported(Cast{}, from))
}

// rowLoop makes a loop over slices one over rows.
func rowLoop[D, S any](loop func(dst []D, x []S)) simd.Map {
	return func(dst, x *byte, rows, cols, dstStride, xStride int) {
		for r := range rows {
			loop(sliceAt[D](move(dst, r*dstStride), cols), sliceAt[S](move(x, r*xStride), cols))
		}
	}
}

// each converts element by element.
func each[D, S any](f func(S) D) simd.Map {
	return rowLoop(func(dst []D, x []S) {
		for i, v := range x {
			dst[i] = f(v)
		}
	})
}

// fromFloats converts numbers that float64 holds.
func fromFloats[S any](to DType, value func(S) float64) simd.Map {
	switch to {
	case F32:
		return each(func(v S) float32 { return float32(value(v)) })
	case F64:
		return each(value)
	case F16:
		return each(func(v S) uint16 { return half.Bits(half.Odd(value(v))) })
	case BF16:
		return each(func(v S) uint16 { return half.BrainBits(half.Odd(value(v))) })
	case I32:
		return each(func(v S) int32 { return int32(clamped(value(v), math.MinInt32, math.MaxInt32)) })
	case I64:
		return each(func(v S) int64 {
			if f := value(v); f < math.MaxInt64 {
				return int64(clamped(f, math.MinInt64, math.MaxInt64))
			} else if f != f {
				return 0
			}
			return math.MaxInt64
		})
	case I8:
		return each(func(v S) int8 { return int8(clamped(value(v), math.MinInt8, math.MaxInt8)) })
	case U8:
		return each(func(v S) uint8 { return uint8(clamped(value(v), 0, math.MaxUint8)) })
	case Bool:
		return each(func(v S) bool { return value(v) != 0 })
	}
	panic(unsupported(Cast{}, to))
}

// clamped returns the number of an interval nearest to v, 0 for NaN.
func clamped(v, least, greatest float64) float64 {
	if v != v {
		return 0
	}
	return max(least, min(greatest, v))
}

// fromIntegers converts integers, of which narrower types take the lower bits.
func fromIntegers[S int8 | uint8 | int32 | int64](to DType) simd.Map {
	switch to {
	case F32:
		return each(func(v S) float32 { return float32(v) })
	case F64:
		return each(func(v S) float64 { return float64(v) })
	case F16:
		return each(func(v S) uint16 { return half.Bits(half.Odd(odd(int64(v)))) })
	case BF16:
		return each(func(v S) uint16 { return half.BrainBits(half.Odd(odd(int64(v)))) })
	case I32:
		return each(func(v S) int32 { return int32(v) })
	case I64:
		return each(func(v S) int64 { return int64(v) })
	case I8:
		return each(func(v S) int8 { return int8(v) })
	case U8:
		return each(func(v S) uint8 { return uint8(v) })
	case Bool:
		return each(func(v S) bool { return v != 0 })
	}
	panic(unsupported(Cast{}, to))
}

// odd returns v as a float64 that rounds to few bits as v does: see [half.Odd].
func odd(v int64) float64 {
	if float64(v) >= 1<<53 || float64(v) <= -1<<53 {
		if v&2047 != 0 {
			v = v&^2047 | 2048
		}
	}
	return float64(v)
}
