package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// How says what Scatter does with a slice of the result and one that its integer brings there.
type How uint8

// What Scatter does. ScatterMax and ScatterMin are of numbers, and NaN where either is.
const (
	ScatterSet How = iota // the later one, in the order of the integers, stays
	ScatterSum
	ScatterMax
	ScatterMin
)

// Scatter takes an array, integers, and slices shaped as the result of Gather: it is the array but
// for the slices along an axis (negative counted from the end) that the integers pick, each of which
// has met the slices that its integers bring, in the order of the integers. An integer outside of the
// axis is recorded as a fault, and its slice left out. In place nothing but the picked slices is
// touched.
type Scatter struct {
	Axis   int
	How    How
	blocks bool // the array is a block of rows, see [ScatterByRows]
}

// InPlace reports whether the result may lie where the array does.
func (Scatter) InPlace(i int) bool { return i == 0 }

// Strided is true of the integers and the slices.
func (Scatter) Strided(i int) bool { return i > 0 }

// Flops counts one per element of the slices that is not only moved.
func (k Scatter) Flops(_ Layout, in []Layout) int64 {
	if k.How == ScatterSet {
		return 0
	}
	return int64(in[2].Len())
}

// Touches returns the number of elements that are written if the result lies where the array does.
func (Scatter) Touches(in []Layout) int { return in[2].Len() }

// Bind takes the array, integers and slices.
func (k Scatter) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case Bool:
		if k.How == ScatterSet {
			return scatterInto[uint8](k, out, in, nil)
		}
	case F32:
		return scatterNumbers[float32](k, out, in)
	case F64:
		return scatterNumbers[float64](k, out, in)
	case I32:
		return scatterNumbers[int32](k, out, in)
	case I64:
		return scatterNumbers[int64](k, out, in)
	}
	panic(unsupported(k, out.DType))
}

func scatterNumbers[T number](k Scatter, out Layout, in []Layout) Bound {
	if k.How == ScatterSet {
		return scatterInto[T](k, out, in, nil)
	}
	meet := simd.ZipOf[T](level, [...]simd.Operation{ScatterSum: simd.Add, ScatterMax: simd.Max, ScatterMin: simd.Min}[k.How]).Rows
	return scatterInto(k, out, in, func(row, slice []T) {
		meet(pointerTo(row), pointerTo(row), pointerTo(slice), 1, len(row), 0, 0, 0)
	})
}

// scatterInto splits the axes before and after the scattered one, never that one: each unit goes
// through all the integers. A nil meet copies.
func scatterInto[T any](k Scatter, out Layout, in []Layout, meet func(row, slice []T)) Bound {
	cols := 256
	if k.blocks { // of which there are many units anyway
		cols = tileLen
	}
	ints, slices := indexOf(in[1]), in[2]
	a := out.axis(k.Axis)
	end := a + in[1].Rank
	before := walkOf(slices, prefix(a), slices.Offset)
	which := walkOf(slices, suffix(a)&prefix(end), 0)
	after := walkOf(slices, suffix(end), 0)
	n, size := out.Dims[a], out.count(a+1, out.Rank)
	across := blocks(size, cols)
	return Bound{out.count(0, a) * across, func(c *Ctx, lo, hi int) {
		dst, old, src, buf := raw[T](c.Out), raw[T](c.In[0]), raw[T](c.In[2]), tile[T](c, 0)
		apart := c.Out.p != c.In[0].p
		for u := lo; u < hi; u++ {
			o, from := u/across, u%across*cols
			to := min(from+cols, size)
			if apart && to-from == size {
				copy(dst[o*n*size:(o+1)*n*size], old[o*n*size:])
			} else if apart {
				for i := range n {
					at := (o*n + i) * size
					copy(dst[at+from:at+to], old[at+from:])
				}
			}
			for q := range ints.n {
				i := ints.get(c.In[1], q)
				if k.blocks {
					if i -= int64(c.Row); uint64(i) >= uint64(n) {
						continue
					}
				} else if !c.Below(i, n, q) {
					continue
				}
				row := dst[(o*n+int(i))*size:][from:to]
				slice := read(after, src, buf, before.at(o)+which.at(q), from, to)
				if meet == nil {
					copy(row, slice)
				} else {
					meet(row, slice)
				}
			}
		}
	}}
}
