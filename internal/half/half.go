// Package half reads numbers of half precision, IEEE 754's binary16, which files hold and
// graphs do not: Float32(0x3c00) is 1. Every one of them is a float32, exactly.
package half

import "math"

// Float32 is the number that the bits stand for: sign, 5 bits of exponent, 10 of
// mantissa. A NaN keeps its bits.
func Float32(bits uint16) float32 {
	sign, exponent, mantissa := uint32(bits&0x8000)<<16, uint32(bits>>10)&31, uint32(bits&0x3ff)
	switch exponent {
	case 0: // subnormal: a multiple of 2⁻²⁴
		return math.Float32frombits(sign | math.Float32bits(float32(mantissa)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | mantissa<<13)
}
