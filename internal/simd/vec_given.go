package simd

// MapBy returns the loop of a function that is given in Go. Float32 computes in float64 and rounds
// once.
func MapBy[T Float](of func(x float64) float64) Map {
	return eachRow(func(dst, x []T) {
		for i, v := range x {
			dst[i] = T(of(float64(v)))
		}
	})
}

// ZipBy returns the loop of a function of two numbers that is given in Go. Narrow numbers compute
// in W, and are converted once.
func ZipBy[T, W Number](of func(x, y W) W) Zip {
	return eachRows(func(dst, x, y []T) {
		for i, v := range x {
			dst[i] = T(of(W(v), W(y[i])))
		}
	})
}
