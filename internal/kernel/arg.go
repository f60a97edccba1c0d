package kernel

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Arg gives the index of the greatest (Max) or least element along an axis, negative counted from
// the end; the axis is removed, or kept with size 1. Of equal elements the first counts. As in
// NumPy, NaN is taken for the extreme. An empty axis gives -1. The operand may be of any dtype, the
// result is I32 or I64.
type Arg struct {
	apart
	Max  bool
	Axis int
}

// Flops counts one per element of the operand.
func (Arg) Flops(_ Layout, in []Layout) int64 { return int64(in[0].Len()) }

// Divide divides along the axes before the one that is searched.
func (k Arg) Divide(out Layout, in []Layout) []Division { return along(out, in, in[0].axis(k.Axis)) }

// Bind takes one operand.
func (k Arg) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case I32:
		return argLoop[int32](k, in[0])
	case I64:
		return argLoop[int64](k, in[0])
	}
	panic(unsupported(k, out.DType))
}

func argLoop[I integer](k Arg, x Layout) Bound {
	switch x.DType {
	case F32:
		return argOfFloats[I, float32](k, x)
	case F64:
		return argOfFloats[I, float64](k, x)
	case I32:
		return argOf[I, int32](k, x)
	case I64:
		return argOf[I, int64](k, x)
	case Bool:
		return argOf[I, uint8](k, x)
	}
	panic(unsupported(k, x.DType))
}

// argOfFloats finds the extreme of each row and then its index, if the elements of the axis lie
// side by side, or those of neighbouring results.
func argOfFloats[I integer, T float](k Arg, x Layout) Bound {
	kept, axis := split(x, 1<<x.axis(k.Axis))
	switch high, near := kept.inner(); {
	case kept.n == 0:
		return argOf[I, T](k, x)
	case axis.dense():
	case near == 1 && high > 1:
		return argOfColumns[I, T](k, x, kept, axis)
	default:
		return argOf[I, T](k, x)
	}
	extreme, index := simd.FoldOf[T](level, simd.MinOf), simd.RowIndexOf[T](level)
	if k.Max {
		extreme = simd.FoldOf[T](level, simd.MaxOf)
	}
	size, reach := sizeOf[T](), x.reach()*sizeOf[T]()
	high, near := kept.inner()
	b := rowBlocks(kept.n, high, min(tileLen, max(1, unitLen/max(1, axis.n))))
	return Bound{b.units, func(c *Ctx, lo, hi int) {
		checkReach(c, kept.n*sizeOf[I](), reach)
		best, indices := hand(c, 0), hand(c, 1)
		for u := lo; u < hi; u++ {
			o, n := b.at(u)
			first := at(c.In[0], kept.at(o)*size)
			extreme(best, first, n, axis.n, near*size)
			index(indices, first, best, n, axis.n, near*size, size)
			dst := raw[I](c.Out)[o:]
			for i, at := range sliceAt[int64](indices, n) {
				if at < 0 { // no row but one with a NaN equals its extreme nowhere
					at = int64(slices.IndexFunc(sliceAt[T](move(first, i*near*size), axis.n), func(v T) bool { return v != v }))
				}
				dst[i] = I(at)
			}
		}
	}}
}

// argOfColumns finds the extremes of neighbouring columns and then the first row that has each.
func argOfColumns[I integer, T float](k Arg, x Layout, kept, axis *walk) Bound {
	worst, extreme := T(posInf), simd.ColumnExtremeOf[T](level, k.Max)
	if k.Max {
		worst = T(negInf)
	}
	size, reach := sizeOf[T](), x.reach()*sizeOf[T]()
	high, _ := kept.inner()
	_, far := axis.inner()
	b := rowBlocks(kept.n, high, min(high, tileLen))
	return Bound{b.units, func(c *Ctx, lo, hi int) {
		checkReach(c, kept.n*sizeOf[I](), reach)
		for u := lo; u < hi; u++ {
			o, n := b.at(u)
			first := at(c.In[0], kept.at(o)*size)
			best, dst := sliceAt[T](hand(c, 0), n), raw[I](c.Out)[o:o+n]
			for j := range best {
				best[j], dst[j] = worst, -1
			}
			extreme(hand(c, 0), first, axis.n, n, far*size)
			for i, left := 0, n; i < axis.n && left > 0; i++ {
				for j, v := range sliceAt[T](move(first, i*far*size), n) {
					// Of a column with NaN, that is the extreme.
					if (v == best[j] || v != v) && dst[j] < 0 {
						dst[j] = I(i)
						left--
					}
				}
			}
		}
	}}
}

func argOf[I integer, T ordered](k Arg, x Layout) Bound {
	kept, axis := split(x, 1<<x.axis(k.Axis))
	per := rowsPer(axis.n)
	return Bound{blocks(kept.n, per), func(c *Ctx, lo, hi int) {
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

// extreme reports whether v replaces the best so far. Only NaN differs from itself, and nothing
// replaces it.
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
