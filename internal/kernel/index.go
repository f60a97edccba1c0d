package kernel

import (
	"math"
)

// The loops below record an index outside of its axis in the Ctx, see [Fault], and go on: OneHot
// writes a row of zeros, Gather NaN for floats, 0 for integers and false for Bools, ScatterAdd
// leaves the slice out, InRange writes the least integer.

// OneHot takes integers [...] to rows [...,n] that are 0 but for a 1 at the integer. The result may
// be of any dtype.
type OneHot struct{ apart }

// InRange copies integers that are to index an axis of the given size. An integer outside becomes
// the least integer.
type InRange struct {
	elementwise
	Size int
}

// Flops is 0.
func (InRange) Flops(Layout, []Layout) int64 { return 0 }

// Flops is 0.
func (OneHot) Flops(Layout, []Layout) int64 { return 0 }

// Divide divides along the axes of the integers.
func (OneHot) Divide(out Layout, in []Layout) []Division { return along(out, in, in[0].Rank) }

// An index reads the integers of an operand, of any type.
type index struct {
	*walk
	dtype DType
}

func indexOf(l Layout) index {
	switch l.DType {
	case I32, I64, I8, U8:
	default:
		panic("kernel: indices are not integers")
	}
	return index{walkOf(l, allAxes, l.Offset), l.DType}
}

func (x index) get(m Mem, i int) int64 {
	switch x.dtype {
	case I32:
		return int64(raw[int32](m)[x.at(i)])
	case I8:
		return int64(raw[int8](m)[x.at(i)])
	case U8:
		return int64(raw[uint8](m)[x.at(i)])
	}
	return raw[int64](m)[x.at(i)]
}

// some returns the integers from number from on, as many as buf is long: a part of the operand
// where they lie there as int64, else in buf. It takes a fraction of the time that get takes for
// each.
func (x index) some(m Mem, buf []int64, from int) []int64 {
	switch {
	case x.dense() && x.dtype == I64:
		return raw[int64](m)[x.offset+from:][:len(buf)]
	case x.dense() && x.dtype == I32:
		for i, v := range raw[int32](m)[x.offset+from:][:len(buf)] {
			buf[i] = int64(v)
		}
	default:
		for i := range buf {
			buf[i] = x.get(m, from+i)
		}
	}
	return buf
}

// Below reports whether 0 ≤ i < n; if not, it records the fault of index number r.
func (c *Ctx) Below(i int64, n, r int) bool {
	if uint64(i) < uint64(n) {
		return true
	}
	c.Fault.add(r, i)
	return false
}

// Bind takes the integers; the result has their dtype.
func (k InRange) Bind(out Layout, in []Layout) Bound {
	if out.DType == I32 {
		return inRangeLoop[int32](in[0], k.Size, math.MinInt32)
	}
	return inRangeLoop[int64](in[0], k.Size, math.MinInt64)
}

func inRangeLoop[T integer](in Layout, size int, none T) Bound {
	ints := indexOf(in)
	return Bound{blocks(ints.n, tileLen), func(c *Ctx, lo, hi int) {
		for from := lo * tileLen; from < min(hi*tileLen, ints.n); from += tileLen {
			part := ints.some(c.In[0], tile[int64](c, 0)[:min(tileLen, ints.n-from)], from)
			dst := raw[T](c.Out)[from:][:len(part)]
			for r, i := range part {
				if uint64(i) < uint64(size) {
					dst[r] = T(i)
				} else {
					c.Fault.add(from+r, i)
					dst[r] = none
				}
			}
		}
	}}
}

// Bind takes the integers.
func (k OneHot) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return oneHotLoop[float32](out, in)
	case F64:
		return oneHotLoop[float64](out, in)
	case I32:
		return oneHotLoop[int32](out, in)
	case I64:
		return oneHotLoop[int64](out, in)
	case Bool:
		return oneHotLoop[uint8](out, in)
	}
	panic(unsupported(k, out.DType))
}

func oneHotLoop[T ordered](out Layout, in []Layout) Bound {
	ints, n := indexOf(in[0]), out.Dims[out.Rank-1]
	per := rowsPer(n)
	return Bound{blocks(ints.n, per), func(c *Ctx, lo, hi int) {
		dst := raw[T](c.Out)
		for r := lo * per; r < min(hi*per, ints.n); r++ {
			row := dst[r*n : (r+1)*n]
			clear(row)
			if i := ints.get(c.In[0], r); c.Below(i, n, r) {
				row[i] = 1
			}
		}
	}}
}
