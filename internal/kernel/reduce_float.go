package kernel

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// A floatFold is Sum, Mean, Max or Min of floats. There are five ways to fold, depending on the
// axis whose elements lie side by side:
//
//   - rows, along a folded axis: each is reduced to a number;
//   - columns, along a kept axis: the rows of a folded axis are combined element by element;
//   - groups of columns, for sums along a short folded axis and one outside of the results;
//   - blocks, like columns, where few elements make a result: rows of the second last kept axis are
//     combined at once;
//   - gathered, where there is no such axis: the elements of a result are copied side by side.
//
// The order of a sum depends on the layout alone. Sums of float32 are float32 within rows of at
// most piece elements, within octet rows of columns, and within blocks; those are added in float64.
type floatFold[T float] struct {
	sum, mean, accumulate bool
	terms                 int   // elements that make a result
	size, outSize         int   // of an element and of a result in bytes
	kept, fold, outer     *walk // outer goes through the folded axes but the innermost
	high, far             int   // size and stride in bytes of the innermost folded axis
	near                  int   // stride in bytes of the axis along which a unit takes results
	group                 int   // columns of a result

	// A unit has per results, or rows of inner results, along an axis of the given size.
	axis, per, inner int

	row           simd.Fold
	combine       simd.Zips
	divide        simd.Zips
	columnSum     simd.ColumnSum
	columnAdd     simd.ColumnSum
	columnExtreme simd.ColumnExtreme
	widen, narrow simd.Map
	copy, spread  simd.Map
	start, count  []T // one element each: the result for no elements, and terms
}

const (
	piece    = 1024 // the longest row that is summed in float32
	fewTerms = 16   // the greatest block
	octet    = 8    // rows of columns that are summed in float32

	plainTerms = 4 // that are added one after the other

	manyShort = 32 // rows of a few elements that repay being transposed
)

// bindFold binds a reduction of floats of type T.
func bindFold[T float](k Reduce, out, x Layout) Bound {
	f := &floatFold[T]{
		sum: k.Op == ReduceSum || k.Op == ReduceMean, mean: k.Op == ReduceMean, accumulate: k.Accumulate,
		size: sizeOf[T](), outSize: out.DType.Size(),
		kept: walkOf(x, ^k.Axes, x.Offset), fold: foldWalk(x, k.Axes), inner: 1,
		divide: simd.ZipOf[T](level, simd.Div), columnSum: simd.ColumnSumOf[T](level),
		columnAdd: simd.ColumnAddOf[T](level), copy: simd.CopyOf(level, sizeOf[T]()), spread: simd.SpreadOf(level, sizeOf[T]()),
	}
	f.kept.offset += f.fold.offset
	f.fold.offset = 0
	f.outer, f.terms = f.fold.outer(), f.fold.n
	f.count = []T{T(f.terms)}
	switch k.Op {
	case ReduceMax:
		f.columnExtreme = simd.ColumnExtremeOf[T](level, true)
		f.row, f.combine, f.start = simd.FoldOf[T](level, simd.MaxOf), simd.ZipOf[T](level, simd.Max), []T{T(negInf)}
	case ReduceMin:
		f.columnExtreme = simd.ColumnExtremeOf[T](level, false)
		f.row, f.combine, f.start = simd.FoldOf[T](level, simd.MinOf), simd.ZipOf[T](level, simd.Min), []T{T(posInf)}
	default:
		f.row, f.combine, f.start = simd.FoldOf[T](level, simd.SumOf), simd.ZipOf[T](level, simd.Add), []T{0}
	}
	if f.outSize > f.size || f.size == 8 {
		f.outSize = 8
	} else {
		f.widen, f.narrow = simd.CastOf[float64, float32](level), simd.CastOf[float32, float64](level)
	}
	return f.bind(x.reach() * f.size)
}

// bind chooses the way.
func (f *floatFold[T]) bind(reach int) Bound {
	if f.kept.n == 0 {
		return idle
	}
	dim, near := f.kept.inner()
	high, far := f.fold.inner()
	f.axis, f.near = dim, near*f.size
	f.high, f.far = high, far*f.size
	across := max(1, unitLen/max(1, f.terms)) // results in a unit
	var way func(c *Ctx, dst, x *byte, n, o int)
	switch {
	case f.terms == 0:
		f.per, way = piece, f.nothing
	case f.few(dim, near):
		f.inner, f.axis, f.near = dim, 1, 0
		if outer := f.kept.rank - 2; outer >= 0 {
			f.axis, f.near = f.kept.dims[outer], f.kept.strides[outer]*f.size
		}
		f.per, way = max(1, across/dim), f.blocks
	case f.sum && grouped(f.kept, f.outer, high, far):
		f.group = high
		high, far = f.outer.inner()
		f.high, f.far, f.outer = high, far*f.size, f.outer.outer()
		f.per, way = max(1, maxColumns/f.group), f.groups
	case near == 1 && dim > 1 && f.accumulate && f.outSize == f.size && f.terms == high && high <= octet:
		f.per, way = piece, f.fewRows
	case near == 1 && (dim > 1 || far != 1):
		f.per, way = min(max(across, 64), piece), f.columns
	case far == 1 && f.sum && near == high && dim >= manyShort && f.turns(high) && f.outer.n == 1 && !f.accumulate && f.outSize == f.size:
		f.per, way = piece, f.turnedRows
	case far == 1 && high <= piece && f.outer.n == 1 && !f.accumulate && f.outSize == f.size:
		f.per, way = across, f.rows
	case far == 1 && high <= piece:
		f.per, way = min(max(across, 64), piece), f.manyRows
	case far == 1:
		f.per, way = across, f.longRows
	default:
		f.per, way = across, f.gathered
	}
	b := rowBlocks(f.kept.n/f.inner, f.axis, f.per)
	need := f.kept.n * f.outSize
	if b.units == 1 {
		base, n := f.kept.offset*f.size, f.axis
		return Bound{1, func(c *Ctx, lo, hi int) {
			if lo < hi {
				checkReach(c, need, reach)
				way(c, at(c.Out, 0), at(c.In[0], base), n, 0)
			}
		}}
	}
	return Bound{b.units, func(c *Ctx, lo, hi int) {
		checkReach(c, need, reach)
		for u := lo; u < hi; u++ {
			o, n := b.at(u)
			o *= f.inner
			way(c, at(c.Out, o*f.outSize), at(c.In[0], f.kept.at(o)*f.size), n, o)
		}
	}}
}

// An axisBlocks cuts results in units of neighbours along the innermost axis.
type axisBlocks struct{ axis, per, each, units int }

// rowBlocks cuts n results along an axis of the given size, per at once.
func rowBlocks(n, axis, per int) axisBlocks {
	each := blocks(axis, per)
	return axisBlocks{axis, per, each, n / axis * each}
}

// at returns the first result of a unit and their number.
func (b axisBlocks) at(unit int) (first, n int) {
	from := unit % b.each * b.per
	return unit/b.each*b.axis + from, min(b.per, b.axis-from)
}

// checkReach panics where the memory of the result or of the operand is shorter than what was
// bound.
func checkReach(c *Ctx, out, in int) {
	if c.Out.n < out || c.In[0].n < in {
		panic(short)
	}
}

// few reports whether to fold blocks: the innermost kept axis, of dim elements side by side, is
// shorter than a block would be, or there are so few terms that as many additions are the fastest.
func (f *floatFold[T]) few(dim, near int) bool {
	if near != 1 || f.terms > fewTerms || dim >= piece || f.outSize != f.size {
		return false
	}
	if f.kept.rank >= 2 && (f.terms == 1 || dim > 1 && f.kept.dims[f.kept.rank-2] > f.high) {
		return true
	}
	return 1 < f.terms && f.terms <= plainTerms && dim > 1 && !f.accumulate
}

// nothing writes n results of no elements.
func (f *floatFold[T]) nothing(c *Ctx, dst, _ *byte, n, _ int) {
	acc := f.open(c, dst, n)
	f.close(acc, dst, n)
}

// rows folds n rows whole.
func (f *floatFold[T]) rows(_ *Ctx, dst, x *byte, n, _ int) {
	f.row(dst, x, n, f.high, f.near)
	f.finish(dst, n)
}

// turns reports whether rows of so many elements are transposed to add them up.
func (f *floatFold[T]) turns(n int) bool {
	return simd.Repeats(level, f.size, n) || level > simd.Portable && f.size == 4 && 4 < n && n <= simd.TurnedRow
}

// turnedRows adds up n short rows, one after the other, as columns, in the order in which rows adds
// up: each element of the first eight and that eight after it, then each of the first four and that
// four after it, and so on.
func (f *floatFold[T]) turnedRows(c *Ctx, dst, x *byte, n, _ int) {
	turned := c.panels()
	stride, bytes := simd.TurnedSize(f.size, n)
	simd.Turn(level, f.size, turned, x, move(turned, bytes), n, f.high, stride, f.near)
	left := f.high
	for half := simd.TurnedRow / 2; half > 1; half /= 2 {
		if left > half {
			f.combine.Rows(turned, turned, move(turned, half*stride), left-half, n, stride, stride, stride)
			left = half
		}
	}
	clear(sliceAt[T](dst, n)) // no elements but -0 add up to 0
	f.columnAdd(dst, turned, left, n, stride)
	f.finish(dst, n)
}

// manyRows folds n rows for each index of the outer axes.
func (f *floatFold[T]) manyRows(c *Ctx, dst, x *byte, n, _ int) {
	acc, part := f.open(c, dst, n), hand(c, 0)
	for at, i := f.outer.seek(0), 0; i < f.outer.n; i++ {
		f.row(part, move(x, at.pos*f.size), n, f.high, f.near)
		f.add(acc, part, 1, n, 0)
		f.outer.step(&at, 1)
	}
	f.close(acc, dst, n)
}

// longRows folds rows one after the other, in pieces.
func (f *floatFold[T]) longRows(c *Ctx, dst, x *byte, n, _ int) {
	for i := range n {
		d := move(dst, i*f.outSize)
		acc, part := f.open(c, d, 1), hand(c, 0)
		for at, j := f.outer.seek(0), 0; j < f.outer.n; j++ {
			row := move(x, i*f.near+at.pos*f.size)
			for k := 0; k < f.high; {
				pieces, width := min((f.high-k)/piece, tileLen), piece
				if pieces == 0 {
					pieces, width = 1, f.high-k
				}
				f.row(part, move(row, k*f.size), pieces, width, width*f.size)
				f.add(acc, part, pieces, 1, f.size)
				k += pieces * width
			}
			f.outer.step(&at, 1)
		}
		f.close(acc, d, 1)
	}
}

// columns folds n columns.
func (f *floatFold[T]) columns(c *Ctx, dst, x *byte, n, _ int) {
	acc := f.open(c, dst, n)
	for at, i := f.outer.seek(0), 0; i < f.outer.n; i++ {
		f.add(acc, move(x, at.pos*f.size), f.high, n, f.far)
		f.outer.step(&at, 1)
	}
	f.close(acc, dst, n)
}

// groups folds n groups of columns.
func (f *floatFold[T]) groups(c *Ctx, dst, x *byte, n, _ int) {
	totals, cols := hand(c, 0), n*f.group
	clear(sliceAt[float64](totals, cols))
	for at, i := f.outer.seek(0), 0; i < f.outer.n; i++ {
		f.columnSum(totals, move(x, at.pos*f.size), f.high, cols, f.far)
		f.outer.step(&at, 1)
	}
	foldGroups(totals, n, f.group)
	acc := f.open(c, dst, n)
	sums := sliceAt[float64](acc, n)
	for i, v := range sliceAt[float64](totals, n) {
		sums[i] += v
	}
	f.close(acc, dst, n)
}

// fewRows adds a few rows to n sums of their own type: widening the sums and narrowing them again,
// as for more rows, would cost more than the addition.
func (f *floatFold[T]) fewRows(_ *Ctx, dst, x *byte, n, _ int) {
	f.columnAdd(dst, x, f.high, n, f.far)
}

// blocks combines n rows of the second last kept axis, as long as the last one.
func (f *floatFold[T]) blocks(_ *Ctx, dst, x *byte, n, _ int) {
	width := f.inner * f.size
	first, have := x, f.accumulate // have: dst holds the sum so far
	for at, i := f.fold.seek(0), 0; i < f.terms; i++ {
		term := move(x, at.pos*f.size)
		switch {
		case have:
			f.combine.Rows(dst, dst, term, n, f.inner, width, width, f.near)
		case i == 1:
			f.combine.Rows(dst, first, term, n, f.inner, width, f.near, f.near)
			have = true
		case f.terms == 1:
			f.copy(dst, term, n, f.inner, width, f.near)
		default:
			first = term
		}
		f.fold.step(&at, 1)
	}
	f.finish(dst, n*f.inner)
}

// gathered copies the elements of each of n results side by side and folds them.
func (f *floatFold[T]) gathered(c *Ctx, dst, _ *byte, n, o int) {
	src, buf := raw[T](c.In[0]), tile[T](c, 0)
	part := hand(c, 2)
	for i := range n {
		d, base := move(dst, i*f.outSize), f.kept.at(o+i)
		acc := f.open(c, d, 1)
		for j := 0; j < f.terms; j += piece {
			m := min(piece, f.terms-j)
			gather(f.fold, buf[:m], src, base, j)
			f.row(part, hand(c, 0), 1, m, 0)
			f.add(acc, part, 1, 1, 0)
		}
		f.close(acc, d, 1)
	}
}

// open returns the memory in which n results are accumulated, in float64 if they are sums.
func (f *floatFold[T]) open(c *Ctx, dst *byte, n int) (acc *byte) {
	acc = dst
	if !f.sum {
		f.spread(dst, pointerTo(f.start), 1, n, 0, 0)
		return acc
	}
	if f.narrow != nil {
		acc = hand(c, 1)
	}
	if !f.accumulate {
		clear(sliceAt[float64](acc, n))
	} else if f.narrow != nil {
		f.widen(acc, dst, 1, n, 0, 0)
	}
	return acc
}

// add combines rows of n elements with n results.
func (f *floatFold[T]) add(acc, x *byte, rows, n, stride int) {
	if f.sum {
		f.columnSum(acc, x, rows, n, stride)
	} else {
		f.columnExtreme(acc, x, rows, n, stride)
	}
}

// close writes n results.
func (f *floatFold[T]) close(acc, dst *byte, n int) {
	if f.narrow != nil && f.sum {
		f.narrow(dst, acc, 1, n, 0, 0)
	}
	f.finish(dst, n)
}

// finish divides n sums where a mean is wanted.
func (f *floatFold[T]) finish(dst *byte, n int) {
	switch {
	case !f.mean:
	case f.divide.OneY != nil:
		f.divide.OneY(dst, dst, pointerTo(f.count), 1, n, 0, 0, 0)
	default:
		for i, v := range sliceAt[T](dst, n) {
			sliceAt[T](dst, n)[i] = v / f.count[0]
		}
	}
}

// foldWalk visits the folded axes in the order of their strides, the greatest first, none of them
// backwards.
func foldWalk(l Layout, axes uint8) *walk {
	var order []int
	at := 0
	for a := range l.Rank {
		if axes>>a&1 == 0 {
			continue
		}
		if l.Strides[a] < 0 && l.Dims[a] > 0 {
			at += (l.Dims[a] - 1) * l.Strides[a]
			l.Strides[a] *= -1
		}
		order = append(order, a)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if l.Strides[a] == 0 || l.Strides[b] == 0 { // repeated elements last of all
			return cmp.Compare(l.Strides[a], l.Strides[b])
		}
		return cmp.Compare(l.Strides[b], l.Strides[a])
	})
	sorted := Layout{DType: l.DType, Rank: len(order)}
	for i, a := range order {
		sorted.Dims[i], sorted.Strides[i] = l.Dims[a], l.Strides[a]
	}
	return walkOf(sorted, allAxes, at)
}

// outer returns the walk without its innermost axis.
func (w *walk) outer() *walk {
	o := *w
	o.rank--
	o.n = 1
	for _, d := range o.dims[:o.rank] {
		o.n *= d
	}
	if o.rank == 0 {
		o.rank, o.dims[0], o.strides[0] = 1, 1, 1
	}
	return &o
}

// pointerTo returns a pointer to the first element.
func pointerTo[T any](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }

// sliceAt returns n elements from p on.
func sliceAt[T any](p *byte, n int) []T { return unsafe.Slice((*T)(unsafe.Pointer(p)), n) }
