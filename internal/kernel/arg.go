package kernel

// Arg gives the index of the greatest (Max) or least element along an axis, negative counted from the end; the axis is removed, or
// kept with size 1. Of equal elements the first counts. As in NumPy, NaN is taken for the extreme. An empty axis gives -1. The
// operand may be of any dtype, the result is I32 or I64.
type Arg struct {
	apart
	Max  bool
	Axis int
}

// Flops counts one per element of the operand.
func (Arg) Flops(_ Layout, in []Layout) int64 { return int64(in[0].Len()) }

// Bind takes one operand.
func (k Arg) Bind(out Layout, in []Layout) Loop {
	switch out.DType {
	case I32:
		return argLoop[int32](k, in[0])
	case I64:
		return argLoop[int64](k, in[0])
	}
	panic(unsupported(k, out.DType))
}

func argLoop[I integer](k Arg, x Layout) Loop {
	switch x.DType {
	case F32:
		return argOf[I, float32](k, x)
	case F64:
		return argOf[I, float64](k, x)
	case I32:
		return argOf[I, int32](k, x)
	case I64:
		return argOf[I, int64](k, x)
	case Bool:
		return argOf[I, uint8](k, x)
	}
	panic(unsupported(k, x.DType))
}

func argOf[I integer, T ordered](k Arg, x Layout) Loop {
	kept, axis := split(x, 1<<x.axis(k.Axis))
	per := rowsPer(axis.n)
	return Loop{blocks(kept.n, per), func(c *Ctx, lo, hi int) {
		dst, src, buf := raw[I](c.Out), raw[T](c.In[0]), tile[T](c, 0)
		for o := lo * per; o < min(hi*per, kept.n); o++ {
			var best T
			arg, base := -1, kept.at(o)
			for i := 0; i < axis.n; i += tileLen {
				for j, v := range read(axis, src, buf, base, i, min(i+tileLen, axis.n)) {
					if arg < 0 || extreme(v, best, k.Max) {
						arg, best = i+j, v
					}
				}
			}
			dst[o] = I(arg)
		}
	}}
}

// extreme reports whether v replaces the best so far. Only NaN differs from itself, and nothing replaces it.
func extreme[T ordered](v, best T, greatest bool) bool {
	switch {
	case best != best:
		return false
	case v != v:
		return true
	case greatest:
		return v > best
	}
	return v < best
}
