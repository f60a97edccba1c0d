//go:build !noasm

package simd

import "math"

// periodic completes a loop of sine or cosine. The loop leaves elements that are too great for it
// as they are, and reports whether there was one; only they are greater than 1 afterwards.
func periodic[T Float](loop func(dst, x *byte, rows, cols, dstStride, xStride int) bool, of func(float64) float64) Map {
	return func(dst, x *byte, rows, cols, dstStride, xStride int) {
		if !loop(dst, x, rows, cols, dstStride, xStride) {
			return
		}
		for r := range rows {
			row := slice[T](move(dst, r*dstStride), cols)
			for i, v := range row {
				if v := float64(v); math.Abs(v) > 1 {
					row[i] = T(of(v))
				}
			}
		}
	}
}
