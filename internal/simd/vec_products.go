package simd

// Loops that add up a few products element by element. They go through rows as [Map] does; each
// product and each sum is rounded, in the order of the operands.
type (
	SumTwoProducts func(dst, x0, x1, y0, y1 *byte, rows, cols, dstStride, x0Stride, x1Stride, y0Stride, y1Stride int)
	// SumThreeProducts sets dst to (x0·y0 + x1·y1) + x2·y2.
	SumThreeProducts func(dst, x0, x1, x2, y0, y1, y2 *byte, rows, cols,
		dstStride, x0Stride, x1Stride, x2Stride, y0Stride, y1Stride, y2Stride int)
)

// SumTwoProductsOf returns the loop of x0·y0 + x1·y1 at a level that the machine has.
func SumTwoProductsOf[T Float](level Level) SumTwoProducts {
	if f := lookup[T](level, func(l *loops) SumTwoProducts { return l.twoProducts }); f != nil {
		return f
	}
	return func(dst, x0, x1, y0, y1 *byte, rows, cols, dstStride, x0Stride, x1Stride, y0Stride, y1Stride int) {
		for r := range rows {
			a0, a1 := slice[T](move(x0, r*x0Stride), cols), slice[T](move(x1, r*x1Stride), cols)
			b0, b1 := slice[T](move(y0, r*y0Stride), cols), slice[T](move(y1, r*y1Stride), cols)
			d := slice[T](move(dst, r*dstStride), cols)
			for i := range d {
				d[i] = T(a0[i]*b0[i]) + T(a1[i]*b1[i])
			}
		}
	}
}

// SumThreeProductsOf returns the loop of (x0·y0 + x1·y1) + x2·y2 at a level that the machine has.
func SumThreeProductsOf[T Float](level Level) SumThreeProducts {
	if f := lookup[T](level, func(l *loops) SumThreeProducts { return l.threeProducts }); f != nil {
		return f
	}
	return func(dst, x0, x1, x2, y0, y1, y2 *byte, rows, cols, dstStride, x0Stride, x1Stride, x2Stride, y0Stride, y1Stride, y2Stride int) {
		for r := range rows {
			a0, a1, a2 := slice[T](move(x0, r*x0Stride), cols), slice[T](move(x1, r*x1Stride), cols), slice[T](move(x2, r*x2Stride), cols)
			b0, b1, b2 := slice[T](move(y0, r*y0Stride), cols), slice[T](move(y1, r*y1Stride), cols), slice[T](move(y2, r*y2Stride), cols)
			d := slice[T](move(dst, r*dstStride), cols)
			for i := range d {
				d[i] = T(T(a0[i]*b0[i])+T(a1[i]*b1[i])) + T(a2[i]*b2[i])
			}
		}
	}
}
