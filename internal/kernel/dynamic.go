package kernel

import "math"

// DynamicSlice takes an array and integers, whose axes are the first of the array: from each integer on
// it copies the elements along an axis (negative counted from the end) after those axes, as many as the
// result has there. An integer from which not so many follow is recorded as a fault; the result there
// is NaN for floats, 0 for integers and false for Bools. Any dtype.
type DynamicSlice struct {
	apart
	Axis int
}

// DynamicUpdate takes an array, integers as DynamicSlice does, and parts: it is the array with the parts
// in the places that DynamicSlice would copy. An integer behind which a part has no place is recorded
// as a fault, and the part left out. In place nothing but the parts' places is touched. Any dtype.
type DynamicUpdate struct{ Axis int }

// InPlace reports whether the result may lie where the array does.
func (DynamicUpdate) InPlace(i int) bool { return i == 0 }

// Strided is true of the integers and the parts.
func (DynamicUpdate) Strided(i int) bool { return i > 0 }

// Flops is 0.
func (DynamicSlice) Flops(Layout, []Layout) int64 { return 0 }

// Flops is 0.
func (DynamicUpdate) Flops(Layout, []Layout) int64 { return 0 }

// Reads returns the number of elements that are read of an operand: of the array only those that are
// copied.
func (DynamicSlice) Reads(out Layout, in []Layout, i int) int { return min(out.Len(), in[i].Len()) }

// Touches returns the number of elements that are written if the result lies where the array does.
func (DynamicUpdate) Touches(in []Layout) int { return in[2].Len() }

// Divide divides along the axes before the one that is cut.
func (k DynamicSlice) Divide(out Layout, in []Layout) []Division {
	return dynamicRows(out, in, out.axis(k.Axis))
}

// Divide divides along the axes before the one that is cut.
func (k DynamicUpdate) Divide(out Layout, in []Layout) []Division {
	return dynamicRows(out, in, out.axis(k.Axis))
}

// dynamicRows divides along the first n axes, of which the integers, operand 1, may lack some.
func dynamicRows(out Layout, in []Layout, n int) []Division {
	d := along(out, in, n)
	for a := in[1].Rank; a < n; a++ {
		d[0].Axes[1][a] = -1
	}
	return d
}

// Bind takes the array and the integers.
func (k DynamicSlice) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case Bool, I8, U8:
		return dynamicSliceLoop[uint8](k, out, in, 0)
	case F16:
		return dynamicSliceLoop[uint16](k, out, in, nan16)
	case BF16:
		return dynamicSliceLoop[uint16](k, out, in, nanBrain)
	case F32:
		return dynamicSliceLoop(k, out, in, math.Float32bits(float32(math.NaN())))
	case F64:
		return dynamicSliceLoop(k, out, in, math.Float64bits(math.NaN()))
	case I32:
		return dynamicSliceLoop[uint32](k, out, in, 0)
	default:
		return dynamicSliceLoop[uint64](k, out, in, 0)
	}
}

// dynamicPer is how many elements a unit copies.
const dynamicPer = 4 * tileLen

func dynamicSliceLoop[T any](k DynamicSlice, out Layout, in []Layout, missing T) Bound {
	x, ints, a := in[0], indexOf(in[1]), out.axis(k.Axis)
	part := x
	part.Dims[a] = out.Dims[a]
	rows, each := walkOf(x, prefix(a), x.Offset), walkOf(part, suffix(a), 0)
	starts, across := x.Dims[a]-out.Dims[a]+1, blocks(each.n, dynamicPer)
	same := max(1, rows.n/max(1, ints.n)) // rows of an integer
	return Bound{rows.n * across, func(c *Ctx, lo, hi int) {
		dst, src := raw[T](c.Out), raw[T](c.In[0])
		for u := lo; u < hi; u++ {
			row, from := u/across, u%across*dynamicPer
			to := min(from+dynamicPer, each.n)
			copied := dst[row*each.n:][from:to]
			if i := ints.get(c.In[1], row/same); c.Below(i, starts, row/same) {
				gather(each, copied, src, rows.at(row)+int(i)*x.Strides[a], from)
			} else {
				fill(copied, missing)
			}
		}
	}}
}

// Bind takes the array, the integers and the parts.
func (k DynamicUpdate) Bind(out Layout, in []Layout) Bound {
	switch out.DType.Size() {
	case 1:
		return dynamicUpdateLoop[uint8](k, out, in)
	case 2:
		return dynamicUpdateLoop[uint16](k, out, in)
	case 4:
		return dynamicUpdateLoop[uint32](k, out, in)
	default:
		return dynamicUpdateLoop[uint64](k, out, in)
	}
}

func dynamicUpdateLoop[T any](k DynamicUpdate, out Layout, in []Layout) Bound {
	ints, parts, a := indexOf(in[1]), in[2], out.axis(k.Axis)
	rows, each := walkOf(parts, prefix(a), parts.Offset), walkOf(parts, suffix(a), 0)
	n, after := out.count(a, out.Rank), out.count(a+1, out.Rank)
	starts, across := out.Dims[a]-parts.Dims[a]+1, blocks(n, dynamicPer)
	count := out.count(0, a)
	same := max(1, count/max(1, ints.n))
	return Bound{count * across, func(c *Ctx, lo, hi int) {
		dst, old, src := raw[T](c.Out), raw[T](c.In[0]), raw[T](c.In[2])
		apart := c.Out.p != c.In[0].p
		for u := lo; u < hi; u++ {
			row, from := u/across, u%across*dynamicPer
			to := min(from+dynamicPer, n)
			whole := dst[row*n:][:n]
			if apart {
				copy(whole[from:to], old[row*n+from:])
			}
			i := ints.get(c.In[1], row/same)
			if !c.Below(i, starts, row/same) {
				continue
			}
			first := int(i) * after
			if from, to := max(from, first), min(to, first+each.n); from < to {
				gather(each, whole[from:to], src, rows.at(row), from-first)
			}
		}
	}}
}
