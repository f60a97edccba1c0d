package kernel

// Iota gives each element its index along an axis, negative counted from the end. It takes no
// operands; the result is of numbers.
type Iota struct {
	apart
	Axis int
}

// Flops is 0.
func (Iota) Flops(Layout, []Layout) int64 { return 0 }

// Bind takes no operands.
func (k Iota) Bind(out Layout, _ []Layout) Bound {
	switch out.DType {
	case F32:
		return iotaLoop[float32](out, out.axis(k.Axis))
	case F64:
		return iotaLoop[float64](out, out.axis(k.Axis))
	case I32:
		return iotaLoop[int32](out, out.axis(k.Axis))
	case I64:
		return iotaLoop[int64](out, out.axis(k.Axis))
	}
	panic(unsupported(k, out.DType))
}

func iotaLoop[T number](out Layout, axis int) Bound {
	n, size, inner := out.Len(), out.Dims[axis], out.count(axis+1, out.Rank)
	return Bound{blocks(n, unitLen), func(c *Ctx, lo, hi int) {
		first, last := lo*unitLen, min(hi*unitLen, n)
		if first >= last {
			return
		}
		dst := raw[T](c.Out)[first:last]
		index, left := first/inner%size, inner-first%inner // left to be filled with the index
		for len(dst) > 0 {
			m := min(left, len(dst))
			fill(dst[:m], T(index))
			dst = dst[m:]
			left = inner
			if index++; index == size {
				index = 0
			}
		}
	}}
}
