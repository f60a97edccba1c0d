package kernel

import "slices"

// ReduceOp names a reduction.
type ReduceOp uint8

// The reductions, with their results for no elements: Sum 0, Mean NaN, Prod 1, Max -Inf, Min +Inf
// (for integers the least and the greatest, for Bools false and true). Max and Min of floats give
// NaN where any element is NaN; of Bools they are any and all.
const (
	ReduceSum ReduceOp = iota + 1
	ReduceMean
	ReduceProd
	ReduceMax
	ReduceMin
)

// Reduce folds the axes in the bit set Axes. The result has the other axes, in order; whether the
// folded ones are kept with size 1 does not matter. Its dtype is the operand's: Mean wants floats,
// Sum and Prod numbers, Max and Min take Bools too.
//
// The order in which elements are combined depends on the layout alone. A sum of float32 is
// accumulated in many short sums that are added in float64: it is good to some units in the last
// place, however long. Integers are accumulated in int64 and wrap around.
type Reduce struct {
	apart
	Op   ReduceOp
	Axes uint8
	// Accumulate adds to what is in the result instead of replacing it. It is for Sum alone. The
	// result of a Sum of F32 may be F64, so that a sum in many steps is rounded once.
	Accumulate bool
}

// Flops counts one per element of the operand.
func (Reduce) Flops(_ Layout, in []Layout) int64 { return int64(in[0].Len()) }

// Divide divides along the first axes: if they are kept, rows are those of the result; if they are
// summed, each row adds to it. Rows along the last axes, if those are summed, add to it too: they
// are the rows of a transposed operand. So do those along axes in the middle, to a sum for each row
// of the axes before.
func (k Reduce) Divide(_ Layout, in []Layout) []Division {
	x := in[0]
	folds := func(a int) bool { return k.Axes>>a&1 != 0 }
	n, last := 0, x.Rank
	for n < x.Rank && folds(n) == folds(0) {
		n++
	}
	for last > n && folds(last-1) {
		last--
	}
	if n > 0 && folds(0) {
		return k.terms(x, 0, 0, n)
	}
	ds := []Division{{Dims: slices.Clone(x.Dims[:n]), Axes: [][]int{aligned(n, n, n)}}}
	if last < x.Rank {
		ds = append(ds, k.terms(x, 0, last, x.Rank)...)
	}
	middle := n
	for middle < x.Rank && folds(middle) {
		middle++
	}
	if middle < x.Rank {
		ds = append(ds, k.terms(x, n, 0, middle)...)
	}
	return ds
}

// terms divides along the axes [from,to), of which all are folded but for the outer ones. Only sums
// and means can be added up this way.
func (k Reduce) terms(x Layout, outer, from, to int) []Division {
	d := Division{Dims: slices.Clone(x.Dims[from:to]), Axes: make([][]int, 1), Outer: outer}
	d.First, d.Accumulate = Reduce{Op: ReduceSum, Axes: k.Axes}, Reduce{Op: ReduceSum, Axes: k.Axes, Accumulate: true}
	for a := from; a < to; a++ {
		d.Axes[0] = append(d.Axes[0], a)
	}
	switch k.Op {
	case ReduceSum:
	case ReduceMean:
		d.Over = 1
		for a := range x.Rank {
			if k.Axes>>a&1 != 0 {
				d.Over *= x.Dims[a]
			}
		}
	default:
		return nil
	}
	return []Division{d}
}

// Bind takes one operand.
func (k Reduce) Bind(out Layout, in []Layout) Bound {
	if k.Accumulate && k.Op != ReduceSum {
		panic("kernel: only sums accumulate")
	}
	switch x := in[0]; x.DType {
	case F32:
		if k.Op != ReduceProd {
			return bindFold[float32](k, out, x)
		}
		return reduceLoop(k, x, foldOf[float32, float64](k.Op, negInf, posInf))
	case F64:
		if k.Op != ReduceProd {
			return bindFold[float64](k, out, x)
		}
		return reduceLoop(k, x, foldOf[float64, float64](k.Op, negInf, posInf))
	case I32:
		if k.Op != ReduceMean {
			return reduceLoop(k, x, foldOf[int32, int64](k.Op, -1<<31, 1<<31-1))
		}
	case I64:
		if k.Op != ReduceMean {
			return reduceLoop(k, x, foldOf[int64, int64](k.Op, -1<<63, 1<<63-1))
		}
	case Bool:
		if k.Op == ReduceMax || k.Op == ReduceMin {
			return reduceLoop(k, x, foldOf[uint8, int64](k.Op, 0, 1))
		}
	}
	panic(unsupported(k, in[0].DType))
}

// A reduction folds whole rows or, where the kept axis is the one whose elements lie closer
// together, columns: blocks of neighbouring results, row after row. Narrow blocks are not worth the
// bookkeeping.
const (
	columns    = 256
	minColumns = 16
)

// byColumns reports whether to fold by columns.
func byColumns(kept, fold *walk) bool {
	dim, stride := kept.inner()
	_, far := fold.inner()
	return dim >= minColumns && max(stride, -stride) < max(far, -far)
}

func reduceLoop[T ordered, A int64 | float64](k Reduce, x Layout, f fold[T, A]) Bound {
	kept, folded := split(x, k.Axes)
	first := func(old T) A { // the value that the first element is combined with
		if k.Accumulate {
			return A(old)
		}
		return f.empty
	}
	if byColumns(kept, folded) {
		return Bound{blocks(kept.n, columns), func(c *Ctx, lo, hi int) {
			dst, src := raw[T](c.Out), raw[T](c.In[0])
			for o := lo * columns; o < min(hi*columns, kept.n); o += columns {
				end := min(o+columns, kept.n)
				acc := tile[A](c, 1)[:end-o]
				for i := range acc {
					acc[i] = first(dst[o+i])
				}
				for row, i := folded.seek(0), 0; i < folded.n; i++ {
					f.row(acc, read(kept, src, tile[T](c, 0), row.pos, o, end))
					folded.step(&row, 1)
				}
				for i, a := range acc {
					dst[o+i] = T(a)
				}
			}
		}}
	}
	per := rowsPer(folded.n)
	return Bound{blocks(kept.n, per), func(c *Ctx, lo, hi int) {
		dst, src, buf := raw[T](c.Out), raw[T](c.In[0]), tile[T](c, 0)
		for o := lo * per; o < min(hi*per, kept.n); o++ {
			acc, base := first(dst[o]), kept.at(o)
			for i := 0; i < folded.n; i += tileLen {
				acc = f.tile(acc, read(folded, src, buf, base, i, min(i+tileLen, folded.n)))
			}
			dst[o] = T(acc)
		}
	}}
}
