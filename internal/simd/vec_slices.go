package simd

import (
	"math"
	"unsafe"
)

// The portable loops over slices, all of one length.

func neg[T Number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = -x[i]
	}
}

// abs of the least integer is itself.
func abs[T Number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		v := x[i]
		if v <= 0 {
			v = 0 - v
		}
		dst[i] = v
	}
}

func sign[T Number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		switch v := x[i]; {
		case v > 0:
			dst[i] = 1
		case v < 0:
			dst[i] = -1
		case v == 0:
			dst[i] = 0
		default:
			dst[i] = v
		}
	}
}

func square[T Number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * x[i]
	}
}

func relu[T Number](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = max(x[i], 0)
	}
}

func sqrt[T Float](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Sqrt(float64(x[i])))
	}
}

func reciprocal[T Float](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = 1 / x[i]
	}
}

func add[T Number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func sub[T Number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

func mul[T Number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

func div[T Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

func weights[T Float](dst, x []T) {
	bound := weightBound[T]()
	for i, v := range x {
		dst[i] = weight(v, bound)
	}
}

// weight is exp(x), or 0 below the bound.
func weight[T Float](x, bound T) T {
	if x < bound {
		return 0
	}
	return T(math.Exp(float64(x)))
}

// weightBound returns the logarithm of 2²⁴ times the smallest positive number with all its digits.
func weightBound[T Float]() T {
	if unsafe.Sizeof(T(0)) == 4 {
		return T(-126*math.Ln2 + 24*math.Ln2)
	}
	least := -1022.0
	return T(least*math.Ln2 + 24*math.Ln2)
}

func maxOf[T Number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = max(x[i], y[i])
	}
}

func minOf[T Number](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = min(x[i], y[i])
	}
}

func less[T Ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] < y[i]
	}
}

func lessEq[T Ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] <= y[i]
	}
}

func equal[T Ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] == y[i]
	}
}

func notEqual[T Ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] != y[i]
	}
}

func nonzero[S Ordered](dst []bool, x []S) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = x[i] != 0
	}
}

func convert[D, S Ordered](dst []D, x []S) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = D(x[i])
	}
}

func truncate[D int32 | int64, S Float](dst []D, x []S) {
	x = x[:len(dst)]
	var e D
	lowest := D(-1) << (8*unsafe.Sizeof(e) - 1)
	limit := -float64(lowest) // a power of two, so exact
	for i := range dst {
		switch v := float64(x[i]); {
		case math.IsNaN(v):
			dst[i] = 0
		case v >= limit:
			dst[i] = ^lowest
		case v < -limit:
			dst[i] = lowest
		default:
			dst[i] = D(v)
		}
	}
}
