package simd

// Peak returns a loop of independent multiply-adds on vectors of a level, of floats of 32 or 64
// bits: no product of matrices can surpass its rate. The loop returns the number of floating-point
// operations that it did.
func Peak(level Level, bits int) func(iterations int) (flops int64) {
	loop, lanes := peakLoop(level, bits)
	return func(iterations int) int64 {
		loop(iterations)
		return int64(iterations) * int64(lanes) * 2 * peakChains
	}
}

// peakChains is the number of independent sums.
const peakChains = 12

// portablePeak multiplies and adds in separate operations, as portable loops do.
func portablePeak[T float32 | float64](iterations int) {
	var s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11 T
	x := 0 * T(iterations) // not a constant
	for range iterations {
		s0 += T(x * s0)
		s1 += T(x * s1)
		s2 += T(x * s2)
		s3 += T(x * s3)
		s4 += T(x * s4)
		s5 += T(x * s5)
		s6 += T(x * s6)
		s7 += T(x * s7)
		s8 += T(x * s8)
		s9 += T(x * s9)
		s10 += T(x * s10)
		s11 += T(x * s11)
	}
	if s0+s1+s2+s3+s4+s5+s6+s7+s8+s9+s10+s11 != 0 {
		panic("simd: sums of zeros are not zero")
	}
}
