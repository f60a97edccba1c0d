package kernel

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// The loops below record an index outside of its axis in the Ctx, see [Fault], and go on: OneHot
// writes a row of zeros, Gather NaN for floats, 0 for integers and false for Bools, ScatterAdd
// leaves the slice out, InRange writes the least integer.

// OneHot takes integers [...] to rows [...,n] that are 0 but for a 1 at the integer. The result may
// be of any dtype.
type OneHot struct{ apart }

// Gather takes a table and integers. The result is the table with an axis (negative counted from
// the end) replaced by the axes of the integers: each integer picks a slice of the table.
type Gather struct {
	apart
	Axis int
}

// ScatterAdd is the transpose of Gather: it takes integers and updates, shaped as Gather's result,
// and adds each slice of the updates to the slice of the result that its integer picks along the
// axis (negative counted from the end). The result starts from zeros. Slices that meet are added in
// the order of the integers.
type ScatterAdd struct {
	apart
	Axis int
}

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

// Flops is 0.
func (Gather) Flops(Layout, []Layout) int64 { return 0 }

// Reads returns the number of elements that are read of an operand: of the table only the slices
// that are picked.
func (Gather) Reads(out Layout, in []Layout, i int) int {
	if i == 0 {
		return out.Len()
	}
	return in[i].Len()
}

// Flops counts one per element of the updates.
func (ScatterAdd) Flops(_ Layout, in []Layout) int64 { return int64(in[1].Len()) }

// Divide divides along the axes of the integers.
func (OneHot) Divide(out Layout, in []Layout) []Division { return along(out, in, in[0].Rank) }

// Divide divides along the table's axes before the one looked up, and those of the integers.
func (k Gather) Divide(out Layout, in []Layout) []Division {
	a := in[0].axis(k.Axis)
	d := Division{Dims: slices.Clone(out.Dims[:a+in[1].Rank]), Axes: make([][]int, 2)}
	for i := range d.Dims {
		table, ints := -1, -1
		if i < a {
			table = i
		} else {
			ints = i - a
		}
		d.Axes[0], d.Axes[1] = append(d.Axes[0], table), append(d.Axes[1], ints)
	}
	return []Division{d}
}

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
		dst := raw[T](c.Out)
		for r := lo * tileLen; r < min(hi*tileLen, ints.n); r++ {
			if i := ints.get(c.In[0], r); c.Below(i, size, r) {
				dst[r] = T(i)
			} else {
				dst[r] = none
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

// Bind takes table and integers.
func (k Gather) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case Bool, I8, U8:
		return gatherLoop[uint8](k, in, 0)
	case F16:
		return gatherLoop[uint16](k, in, nan16)
	case BF16:
		return gatherLoop[uint16](k, in, nanBrain)
	case F32:
		return gatherLoop(k, in, math.Float32bits(float32(math.NaN())))
	case F64:
		return gatherLoop(k, in, math.Float64bits(math.NaN()))
	case I32:
		return gatherLoop[uint32](k, in, 0)
	default:
		return gatherLoop[uint64](k, in, 0)
	}
}

func gatherLoop[T any](k Gather, in []Layout, missing T) Bound {
	table, ints := in[0], indexOf(in[1])
	a := table.axis(k.Axis)
	before := walkOf(table, prefix(a), table.Offset)
	after := walkOf(table, suffix(a+1), 0)
	rows, per := before.n*ints.n, rowsPer(after.n)
	if after.n == 1 {
		return gatherElements(k, before, table, ints, missing)
	}
	return Bound{blocks(rows, per), func(c *Ctx, lo, hi int) {
		dst, src := raw[T](c.Out), raw[T](c.In[0])
		for r := lo * per; r < min(hi*per, rows); r++ {
			slice := dst[r*after.n : (r+1)*after.n]
			if i := ints.get(c.In[1], r%ints.n); c.Below(i, table.Dims[a], r%ints.n) {
				gather(after, slice, src, before.at(r/ints.n)+int(i)*table.Strides[a], 0)
			} else {
				fill(slice, missing)
			}
		}
	}}
}

// gatherElements is for slices of one element: the axis is the last one of the table.
func gatherElements[T any](k Gather, before *walk, table Layout, ints index, missing T) Bound {
	a := table.axis(k.Axis)
	size, stride := table.Dims[a], table.Strides[a]
	n := before.n * ints.n
	return Bound{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
		dst, src := raw[T](c.Out), raw[T](c.In[0])
		end := min(hi*tileLen, n)
		for at := lo * tileLen; at < end; {
			row, q := at/ints.n, at%ints.n
			first := before.at(row)
			for ; q < ints.n && at < end; q, at = q+1, at+1 {
				if i := ints.get(c.In[1], q); c.Below(i, size, q) {
					dst[at] = src[first+int(i)*stride]
				} else {
					dst[at] = missing
				}
			}
		}
	}}
}

// Bind takes integers and updates.
func (k ScatterAdd) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return scatterLoop[float32](k, out, in)
	case F64:
		return scatterLoop[float64](k, out, in)
	case I32:
		return scatterLoop[int32](k, out, in)
	case I64:
		return scatterLoop[int64](k, out, in)
	}
	panic(unsupported(k, out.DType))
}

// scatterLoop splits the axes before and after the scattered one, never that one: each unit goes
// through all the integers.
func scatterLoop[T number](k ScatterAdd, out Layout, in []Layout) Bound {
	const cols = 64
	ints, updates := indexOf(in[0]), in[1]
	a := out.axis(k.Axis)
	end := a + in[0].Rank
	before := walkOf(updates, prefix(a), updates.Offset)
	which := walkOf(updates, suffix(a)&prefix(end), 0)
	after := walkOf(updates, suffix(end), 0)
	n, across := out.Dims[a], blocks(after.n, cols)
	add := simd.ZipOf[T](level, simd.Add).Rows
	return Bound{before.n * across, func(c *Ctx, lo, hi int) {
		dst, src, buf := raw[T](c.Out), raw[T](c.In[1]), tile[T](c, 0)
		for u := lo; u < hi; u++ {
			o, from := u/across, u%across*cols
			to := min(from+cols, after.n)
			for i := range n {
				clear(dst[(o*n+i)*after.n:][from:to])
			}
			for q := range ints.n {
				i := ints.get(c.In[0], q)
				if !c.Below(i, n, q) {
					continue
				}
				sum := dst[(o*n+int(i))*after.n:][from:to]
				term := read(after, src, buf, before.at(o)+which.at(q), from, to)
				add(pointerTo(sum), pointerTo(sum), pointerTo(term), 1, to-from, 0, 0, 0)
			}
		}
	}}
}
