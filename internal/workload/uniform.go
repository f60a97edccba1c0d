package workload

// Uniform gives the numbers in [0, 1) of a linear congruential generator (Knuth's
// MMIX constants), modulo 2⁶⁴:
//
//	s₀ = 0x9E3779B97F4A7C15·(seed+1),  sᵢ = 6364136223846793005·sᵢ₋₁ + 1442695040888963407
//
// The i-th number is the upper 24 bits of sᵢ over 2²⁴, exact in float32.
func Uniform(seed uint64, count int) []float64 {
	s := 0x9E3779B97F4A7C15 * (seed + 1)
	out := make([]float64, count)
	for i := range out {
		s = 6364136223846793005*s + 1442695040888963407
		out[i] = float64(s>>40) / (1 << 24)
	}
	return out
}

// values are numbers in [−scale, scale).
func values(seed uint64, count int, scale float64) []float64 {
	out := Uniform(seed, count)
	for i, u := range out {
		out[i] = (2*u - 1) * scale
	}
	return out
}

// labels are whole numbers in [0, classes).
func labels(seed uint64, count, classes int) []float64 {
	out := Uniform(seed, count)
	for i, u := range out {
		out[i] = float64(int(u * float64(classes)))
	}
	return out
}

// ones are so many ones.
func ones(count int) []float64 {
	out := make([]float64, count)
	for i := range out {
		out[i] = 1
	}
	return out
}
