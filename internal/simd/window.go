package simd

//go:generate go run -C ../asmgen . -out ../simd window

// Loops over windows of four elements, such as squares of 2×2. They go through rows as [Map] does;
// x0 to x3 are the first, second, third and fourth element of every window.
type (
	// MaxOfFour sets dst to the greatest element of every window, NaN where any is.
	MaxOfFour func(dst, x0, x1, x2, x3 *byte, rows, cols, dstStride, x0Stride, x1Stride, x2Stride, x3Stride int)
	// LayAtMax sets one of dst0 to dst3 to y, the one of the first element that is not less than
	// the greatest, and the others to 0.
	LayAtMax func(dst0, dst1, dst2, dst3, x0, x1, x2, x3, y *byte, rows, cols,
		dst0Stride, dst1Stride, dst2Stride, dst3Stride, x0Stride, x1Stride, x2Stride, x3Stride, yStride int)
)

// TakeAtMax goes through an element of windows of any size, the first before the second: where x is
// not less than most, it adds left to dst and sets it to 0, so that later elements get nothing.
type TakeAtMax func(dst, left, x, most *byte, rows, cols, dstStride, leftStride, xStride, mostStride int)

// FourOf returns the loops of a level that the machine has, for floats of 32 or 64 bits; nil where
// a level has none.
func FourOf(level Level, bits int) (MaxOfFour, LayAtMax) {
	if level == Portable {
		return nil, nil
	}
	f := fours[level][bits/32-1]
	return f.most, f.lay
}

// TakeAtMaxOf returns the loop as [FourOf] does.
func TakeAtMaxOf(level Level, bits int) TakeAtMax {
	if level == Portable {
		return nil
	}
	return fours[level][bits/32-1].take
}

type four struct {
	most MaxOfFour
	lay  LayAtMax
	take TakeAtMax
}
