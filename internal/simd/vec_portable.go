package simd

import (
	"encoding/binary"
	"math"
)

// portableMap returns the loop of a function in plain Go. Float32 loops of elementary functions
// compute in float64 and round once.
func portableMap[T Number](f Function) Map {
	switch f {
	case Neg:
		return eachRow(neg[T])
	case Abs:
		return eachRow(abs[T])
	case Sign:
		return eachRow(sign[T])
	case Square:
		return eachRow(square[T])
	case Relu:
		return eachRow(relu[T])
	}
	var e T
	switch any(e).(type) {
	case float32:
		return portableFunction[float32](f)
	case float64:
		return portableFunction[float64](f)
	}
	return nil
}

func portableFunction[T Float](f Function) Map {
	switch f {
	case Sqrt:
		return eachRow(sqrt[T])
	case Reciprocal:
		return eachRow(reciprocal[T])
	}
	of := elementary[f]
	return eachRow(func(dst, x []T) {
		for i, v := range x {
			dst[i] = T(of(float64(v)))
		}
	})
}

func rsqrt(x float64) float64 { return 1 / math.Sqrt(x) }

// log scales subnormal numbers, whose exponent the assembly of math.Log on amd64 gets wrong.
func log(x float64) float64 {
	if 0 < x && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// sigmoid never takes the exponential of a positive number, so that it neither overflows nor loses
// the small values.
func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

// softplus never takes the exponential of a positive number. A NaN stays one.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func logSigmoid(x float64) float64 { return -softplus(-x) }

// portableZip returns the loop of an operation over whole rows in plain Go.
func portableZip[T Number](op Operation) Zip {
	switch op {
	case Add:
		return eachRows(add[T])
	case Sub:
		return eachRows(sub[T])
	case Mul:
		return eachRows(mul[T])
	case Max:
		return eachRows(maxOf[T])
	case Min:
		return eachRows(minOf[T])
	}
	var e T
	switch any(e).(type) {
	case float32:
		return eachRows(div[float32])
	case float64:
		return eachRows(div[float64])
	}
	return nil // integers have no quotients
}

// portableRelation returns the loop of a relation over whole rows in plain Go.
func portableRelation[T Ordered](r Relation) Zip {
	return eachRows([relations]func(dst []bool, x, y []T){less[T], lessEq[T], equal[T], notEqual[T]}[r])
}

func copyRows[T any](dst, x *byte, rows, cols, dstStride, xStride int) {
	for r := range rows {
		copy(slice[T](move(dst, r*dstStride), cols), slice[T](move(x, r*xStride), cols))
	}
}

func spread[T any](dst, x *byte, rows, cols, dstStride, xStride int) {
	for r := range rows {
		d, v := slice[T](move(dst, r*dstStride), cols), slice[T](move(x, r*xStride), 1)[0]
		for i := range d {
			d[i] = v
		}
	}
}

// portableChoose takes x where mask is true, else y.
func portableChoose[T any](dst, mask, x, y *byte, rows, cols, dstStride, maskStride, xStride, yStride int) {
	for r := range rows {
		d, m := slice[T](move(dst, r*dstStride), cols), slice[bool](move(mask, r*maskStride), cols)
		a, b := slice[T](move(x, r*xStride), cols), slice[T](move(y, r*yStride), cols)
		for i, yes := range m {
			if yes {
				d[i] = a[i]
			} else {
				d[i] = b[i]
			}
		}
	}
}

// The connectives of bools, portable at every level: eight bytes at once.
var (
	And = eachRows(func(dst, x, y []uint8) {
		for len(dst) >= 8 {
			binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(x)&binary.LittleEndian.Uint64(y))
			dst, x, y = dst[8:], x[8:], y[8:]
		}
		for i := range dst {
			dst[i] = x[i] & y[i]
		}
	})
	Or = eachRows(func(dst, x, y []uint8) {
		for len(dst) >= 8 {
			binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(x)|binary.LittleEndian.Uint64(y))
			dst, x, y = dst[8:], x[8:], y[8:]
		}
		for i := range dst {
			dst[i] = x[i] | y[i]
		}
	})
	Not = eachRow(func(dst, x []uint8) {
		for len(dst) >= 8 {
			binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(x)^0x0101010101010101)
			dst, x = dst[8:], x[8:]
		}
		for i := range dst {
			dst[i] = x[i] ^ 1
		}
	})
)

// portableCast converts in plain Go.
func portableCast[D, S Ordered]() Map {
	var d D
	var s S
	switch any(s).(type) {
	case float32:
		return portableTruncation[D, float32](d)
	case float64:
		return portableTruncation[D, float64](d)
	}
	return eachRow(convert[D, S])
}

// portableTruncation converts floats.
func portableTruncation[D Ordered, S Float](d any) Map {
	switch d.(type) {
	case int32:
		return eachRow(truncate[int32, S])
	case int64:
		return eachRow(truncate[int64, S])
	}
	return eachRow(convert[D, S])
}

// eachRow and eachRows go through rows with a loop over slices.
func eachRow[D, X any](loop func(dst []D, x []X)) Map {
	return func(dst, x *byte, rows, cols, dstStride, xStride int) {
		for r := range rows {
			loop(slice[D](move(dst, r*dstStride), cols), slice[X](move(x, r*xStride), cols))
		}
	}
}

func eachRows[D, X, Y any](loop func(dst []D, x []X, y []Y)) Zip {
	return func(dst, x, y *byte, rows, cols, dstStride, xStride, yStride int) {
		for r := range rows {
			loop(slice[D](move(dst, r*dstStride), cols), slice[X](move(x, r*xStride), cols), slice[Y](move(y, r*yStride), cols))
		}
	}
}
