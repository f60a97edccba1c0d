package simd

import (
	"math"
	"slices"
)

// portableFold returns the loop of a reduction in plain Go.
func portableFold[T Float](r Reduction) Fold {
	of := [reductions]func(x []T) T{
		SumOf:        sumOf[T],
		SumSquaresOf: func(x []T) T { return dotOf(x, x) },
		MaxOf: func(x []T) T {
			best := T(math.Inf(-1))
			for _, v := range x {
				best = max(best, v)
			}
			return best
		},
		MinOf: func(x []T) T {
			best := T(math.Inf(1))
			for _, v := range x {
				best = min(best, v)
			}
			return best
		},
	}[r]
	return func(dst, x *byte, rows, cols, xStride int) {
		d := slice[T](dst, rows)
		for i := range d {
			d[i] = of(slice[T](move(x, i*xStride), cols))
		}
	}
}

// sumOf adds in four lanes of float64: that hides the latency of addition, and the error grows with
// a quarter of the length.
func sumOf[T Float](x []T) T {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += float64(x[0])
		s1 += float64(x[1])
		s2 += float64(x[2])
		s3 += float64(x[3])
		x = x[4:]
	}
	for _, v := range x {
		s0 += float64(v)
	}
	return T((s0 + s1) + (s2 + s3))
}

func dotOf[T Float](x, y []T) T {
	var s0, s1 float64
	for len(x) >= 2 {
		s0 += float64(float64(x[0]) * float64(y[0]))
		s1 += float64(float64(x[1]) * float64(y[1]))
		x, y = x[2:], y[2:]
	}
	for i, v := range x {
		s0 += float64(float64(v) * float64(y[i]))
	}
	return T(s0 + s1)
}

func portableDot[T Float](dst, x, y *byte, rows, cols, xStride, yStride int) {
	d := slice[T](dst, rows)
	for i := range d {
		d[i] = dotOf(slice[T](move(x, i*xStride), cols), slice[T](move(y, i*yStride), cols))
	}
}

// portableDeviation adds in two lanes, as dotOf.
func portableDeviation[T Float](dst, x, mean *byte, rows, cols, xStride, meanStride int) {
	sums := slice[T](dst, rows)
	for i := range sums {
		m, even, odd := float64(slice[T](move(mean, i*meanStride), 1)[0]), 0.0, 0.0
		for j, v := range slice[T](move(x, i*xStride), cols) {
			d := float64(v) - m
			if j%2 == 0 {
				even += float64(d * d)
			} else {
				odd += float64(d * d)
			}
		}
		sums[i] = T(even + odd)
	}
}

func portableStandardise[T Float](dst, x, mean, scale *byte, rows, cols, dstStride, xStride, meanStride, scaleStride int) {
	for i := range rows {
		d, m, s := slice[T](move(dst, i*dstStride), cols), slice[T](move(mean, i*meanStride), 1)[0], slice[T](move(scale, i*scaleStride), 1)[0]
		for j, v := range slice[T](move(x, i*xStride), cols) {
			d[j] = T(v-m) * s
		}
	}
}

// portableColumnSum adds columns of T to sums of type A, row by row.
func portableColumnSum[A, T Float](acc, x *byte, rows, cols, xStride int) {
	a := slice[A](acc, cols)
	for i := range rows {
		for j, v := range slice[T](move(x, i*xStride), cols) {
			a[j] += A(v)
		}
	}
}

// portableColumnExtreme combines rows one after the other.
func portableColumnExtreme[T Float](combine func(dst, x, y []T)) ColumnExtreme {
	return func(best, x *byte, rows, cols, xStride int) {
		b := slice[T](best, cols)
		for i := range rows {
			combine(b, b, slice[T](move(x, i*xStride), cols))
		}
	}
}

func portableIndex[T Float](dst, x, value *byte, rows, cols, xStride, valueStride int) {
	for i := range rows {
		v := slice[T](move(value, i*valueStride), 1)[0]
		slice[int64](dst, rows)[i] = int64(slices.Index(slice[T](move(x, i*xStride), cols), v))
	}
}

func portableExpSum[T Float](dst, sum, x, peak *byte, rows, cols, dstStride, xStride, peakStride int) {
	s, bound := slice[T](sum, rows), weightBound[T]()
	for i := range s {
		d, p, acc := slice[T](move(dst, i*dstStride), cols), slice[T](move(peak, i*peakStride), 1)[0], 0.0
		for j, v := range slice[T](move(x, i*xStride), cols) {
			d[j] = weight(v-p, bound)
			acc += float64(d[j])
		}
		s[i] = T(acc)
	}
}
