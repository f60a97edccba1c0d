// Package half converts the floats of two bytes: IEEE 754's binary16 and bfloat16. Every one of
// them is a float32, exactly; a number between two of them becomes the nearer one, or of two that
// are equally near the one with an even last bit.
package half

import "math"

// Float32 returns the binary16 number that the bits stand for: sign, 5 bits of exponent, 10 of
// mantissa. Float32(0x3c00) is 1. A NaN keeps its bits.
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

// Bits returns the bits of the binary16 number nearest to v. From 65520 on that is an infinity. A
// NaN stays one, quiet, with the upper bits of its payload.
func Bits(v float32) uint16 {
	b := math.Float32bits(v)
	sign, rest := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case rest > 0xff<<23: // NaN
		return sign | 0x7e00 | uint16(rest>>13)&0x3ff
	case rest >= 0x477ff000: // 65520, half way from 65504 to the next power of two
		return sign | 0x7c00
	case rest >= (127-14)<<23: // normal: the carry of the mantissa goes on in the exponent
		rest -= (127 - 15) << 23
		return sign | uint16((rest+0xfff+rest>>13&1)>>13)
	}
	// Subnormal: added to 0.5, whose last bit is 2⁻²⁴, it is rounded by the processor.
	return sign | uint16(math.Float32bits(math.Float32frombits(rest)+0.5)-math.Float32bits(0.5))
}

// Brain returns the bfloat16 number that the bits stand for, the upper half of a float32's.
func Brain(bits uint16) float32 { return math.Float32frombits(uint32(bits) << 16) }

// BrainBits returns the bits of the bfloat16 number nearest to v. A NaN stays one, quiet, with the
// upper bits of its payload.
func BrainBits(v float32) uint16 {
	b := math.Float32bits(v)
	if v != v {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// Odd returns v as a float32 such that rounding that to half precision is rounding v: the last bit
// of a number between two float32 is set, so that it stays on its side of every middle (Boldo and
// Melquiond 2008, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
// odd").
func Odd(v float64) float32 {
	f := float32(v)
	switch {
	case float64(f) == v || v != v:
		return f
	case math.IsInf(float64(f), 0): // beyond float32
		return f
	}
	b := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(v) { // towards 0
		b--
	}
	return math.Float32frombits(b | 1)
}

// Round returns the binary16 number nearest to v.
func Round(v float64) float64 { return float64(Float32(Bits(Odd(v)))) }

// RoundBrain returns the bfloat16 number nearest to v.
func RoundBrain(v float64) float64 { return float64(Brain(BrainBits(Odd(v)))) }
