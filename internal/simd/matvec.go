package simd

import "unsafe"

// MatVec is a product of a matrix and a vector, c[i] (+)= Σ_p a[i,p]·x[p], where the elements of a
// row and of x lie side by side. Rows of a and elements of c are a stride in bytes apart. The order
// of a sum depends on k alone; accumulate adds it to c, else it replaces c.
type MatVec func(rows, k int, a *byte, rowA int, x, c *byte, stepC int, accumulate bool)

// MatVecOf returns the loop of a level, which the machine must have, for floats of 32 or 64 bits.
func MatVecOf(level Level, bits int) MatVec {
	switch bits {
	case 32:
		if level == Portable {
			return matVec[float32]
		}
		return matVecs32[level]
	case 64:
		if level == Portable {
			return matVec[float64]
		}
		return matVecs64[level]
	}
	panic(unknownFloat(bits))
}

// matVec takes a row at a time, in four sums.
func matVec[T float32 | float64](rows, k int, a *byte, rowA int, x, c *byte, stepC int, accumulate bool) {
	xs := unsafe.Slice((*T)(unsafe.Pointer(x)), k)
	for i := range rows {
		as := unsafe.Slice((*T)(unsafe.Pointer(move(a, i*rowA))), k)
		var s0, s1, s2, s3 T
		p := 0
		for ; p+4 <= k; p += 4 {
			u, v := as[p:p+4], xs[p:p+4]
			s0 += T(u[0] * v[0])
			s1 += T(u[1] * v[1])
			s2 += T(u[2] * v[2])
			s3 += T(u[3] * v[3])
		}
		for ; p < k; p++ {
			s0 += T(as[p] * xs[p])
		}
		sum := (s0 + s1) + (s2 + s3)
		to := (*T)(unsafe.Pointer(move(c, i*stepC)))
		if accumulate {
			sum += *to
		}
		*to = sum
	}
}
