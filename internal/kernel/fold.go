package kernel

import "math"

var negInf, posInf = math.Inf(-1), math.Inf(1)

// A fold accumulates elements of type T in an A.
type fold[T ordered, A int64 | float64] struct {
	empty A                    // the result for no elements
	tile  func(acc A, x []T) A // folds all of x into acc
	row   func(acc []A, x []T) // folds x[i] into acc[i]
}

// foldOf returns the fold of an operation; least and greatest are the results of Max and Min for no
// elements.
func foldOf[T ordered, A int64 | float64](op ReduceOp, least, greatest A) fold[T, A] {
	switch op {
	case ReduceSum:
		return fold[T, A]{0, sumTile[T, A], sumRow[T, A]}
	case ReduceProd:
		return fold[T, A]{1, prodTile[T, A], prodRow[T, A]}
	case ReduceMax:
		return fold[T, A]{least, maxTile[T, A], maxRow[T, A]}
	case ReduceMin:
		return fold[T, A]{greatest, minTile[T, A], minRow[T, A]}
	}
	panic("kernel: unknown reduction")
}

func sumTile[T ordered, A int64 | float64](acc A, x []T) A {
	for _, v := range x {
		acc += A(v)
	}
	return acc
}

func sumRow[T ordered, A int64 | float64](acc []A, x []T) {
	x = x[:len(acc)]
	for i := range acc {
		acc[i] += A(x[i])
	}
}

func prodTile[T ordered, A int64 | float64](acc A, x []T) A {
	for _, v := range x {
		acc *= A(v)
	}
	return acc
}

func prodRow[T ordered, A int64 | float64](acc []A, x []T) {
	x = x[:len(acc)]
	for i := range acc {
		acc[i] *= A(x[i])
	}
}

func maxTile[T ordered, A int64 | float64](acc A, x []T) A {
	for _, v := range x {
		acc = max(acc, A(v))
	}
	return acc
}

func maxRow[T ordered, A int64 | float64](acc []A, x []T) {
	x = x[:len(acc)]
	for i := range acc {
		acc[i] = max(acc[i], A(x[i]))
	}
}

func minTile[T ordered, A int64 | float64](acc A, x []T) A {
	for _, v := range x {
		acc = min(acc, A(v))
	}
	return acc
}

func minRow[T ordered, A int64 | float64](acc []A, x []T) {
	x = x[:len(acc)]
	for i := range acc {
		acc[i] = min(acc[i], A(x[i]))
	}
}
