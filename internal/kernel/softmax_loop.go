package kernel

import (
	"github.com/tapestry-ml/tapestry/internal/simd"
)

// exponentials holds the loops of softmax and its relatives.
type exponentials[T float] struct {
	kind      exponential
	size      int // bytes of an element
	n, inner  int // elements of a row of x, and rows beside each other
	x         *walk
	rowPeak   simd.Fold
	rowLow    simd.Fold
	expSum    simd.ExpSum
	columnSum simd.ColumnSum
	columnAdd simd.ColumnSum // for short rows
	columnMax simd.ColumnExtreme

	max, add, sub, mul                      simd.Zips
	weight, log, reciprocal, narrow, spread simd.Map

	lowest           []T // -Inf
	reachOut, reachX int // bytes that the arrays have at least
}

// exponentialLoop goes along the rows where the axis is the last, else through strips of
// neighbouring rows side by side, so that the result is written in order either way. Short rows are
// transposed and done as strips.
func exponentialLoop[T float](kind exponential, out, x Layout, axis int) Bound {
	axis = x.axis(axis)
	e := &exponentials[T]{
		kind: kind, size: sizeOf[T](), n: x.Dims[axis], inner: x.count(axis+1, x.Rank), x: walkOf(x, allAxes, x.Offset),
		rowPeak: simd.FoldOf[T](level, simd.MaxOf), rowLow: simd.FoldOf[T](level, simd.MinOf), expSum: simd.ExpSumOf[T](level), columnSum: simd.ColumnSumOf[T](level), columnAdd: simd.ColumnAddOf[T](level),
		columnMax: simd.ColumnExtremeOf[T](level, true),
		max:       simd.ZipOf[T](level, simd.Max), add: simd.ZipOf[T](level, simd.Add),
		sub: simd.ZipOf[T](level, simd.Sub), mul: simd.ZipOf[T](level, simd.Mul),
		weight: simd.WeightOf[T](level), log: simd.MapOf[T](level, simd.Log), reciprocal: simd.MapOf[T](level, simd.Reciprocal),
		narrow: simd.CastOf[T, float64](level), spread: simd.SpreadOf(level, sizeOf[T]()), lowest: []T{T(negInf)},
	}
	if out.Len() == 0 {
		return idle
	}
	kept, row := split(x, 1<<axis)
	e.reachOut, e.reachX = out.Len()*e.size, x.reach()*e.size
	inner := walkOf(x, suffix(axis+1), 0)
	sideBySide := e.inner == 1 && row.dense() || e.inner > 1 && inner.dense()
	switch {
	case kind == logSumExp && (e.n == 0 || !sideBySide):
		return e.strewnLoop(kept, row)
	case e.inner == 1 && e.n <= simd.TurnedRow:
		return e.shortLoop(kept, sideBySide)
	case e.inner == 1:
		return e.rowsLoop(kept, sideBySide)
	}
	if x.count(0, axis) > 1 && e.inner <= narrowStrip && e.n <= shortStrip {
		return e.betweenLoop(x, axis)
	}
	return e.stripsLoop(kept, row.strides[0]*e.size, sideBySide)
}

// rowsLoop takes blocks of rows that stay in the L1 cache.
func (e *exponentials[T]) rowsLoop(kept *walk, sideBySide bool) Bound {
	high, near := kept.inner()
	if !sideBySide { // the rows of the result, where they are laid out first
		high, near = kept.n, e.n
	}
	b := rowBlocks(kept.n, high, min(max(1, 2*tileLen/e.n), tileLen))
	toX, toOut := near*e.size, e.n*e.size
	if e.kind == logSumExp {
		toOut = e.size
	}
	return Bound{b.units, func(c *Ctx, lo, hi int) {
		checkReach(c, e.reachOut, e.reachX)
		for u := lo; u < hi; u++ {
			o, rows := b.at(u)
			dst := at(c.Out, o*toOut)
			x := dst
			if sideBySide {
				x = at(c.In[0], kept.at(o)*e.size)
			} else {
				gather(e.x, sliceAt[T](dst, rows*e.n), raw[T](c.In[0]), 0, o*e.n)
			}
			e.rows(c, dst, x, rows, toX)
		}
	}}
}

// rows does rows that start toX bytes apart in the operand.
func (e *exponentials[T]) rows(c *Ctx, dst, x *byte, rows, toX int) {
	peak, sum, exps, part := hand(c, 0), hand(c, 1), hand(c, 2), hand(c, 3)
	width := e.n * e.size
	e.rowPeak(peak, x, rows, e.n, toX)
	for j := 0; j < e.n; j += piece {
		to, toTo, s := exps, 0, part
		if e.kind == softmax {
			to, toTo = move(dst, j*e.size), width
		}
		if j == 0 {
			s = sum
		}
		e.expSum(to, s, move(x, j*e.size), peak, rows, min(piece, e.n-j), toTo, toX, e.size)
		if j > 0 {
			e.add.Rows(sum, sum, part, 1, rows, 0, 0, 0)
		}
	}
	switch e.kind {
	case softmax:
		e.reciprocal(sum, sum, 1, rows, 0, 0)
		e.byRow(c, e.mul, dst, dst, sum, rows, width)
	case logSoftmax:
		e.log(sum, sum, 1, rows, 0, 0)
		e.byRow(c, e.sub, dst, x, peak, rows, toX)
		e.byRow(c, e.sub, dst, dst, sum, rows, width)
	case logSumExp:
		e.logOfSum(dst, peak, sum, rows)
	}
}

// shortLoop takes blocks of short rows, transposes each into scratch, where rows are columns, and
// transposes the result back.
func (e *exponentials[T]) shortLoop(kept *walk, sideBySide bool) Bound {
	high, near := kept.inner()
	if !sideBySide { // the rows of the result, where they are laid out first
		high, near = kept.n, e.n
	}
	b := rowBlocks(kept.n, high, max(16, min(tileLen, 2*tileLen/e.n)&^15))
	toX, toOut, level := near*e.size, e.n*e.size, level
	if e.kind == logSumExp {
		toOut = e.size
	}
	return Bound{b.units, func(c *Ctx, lo, hi int) {
		checkReach(c, e.reachOut, e.reachX)
		for u := lo; u < hi; u++ {
			o, rows := b.at(u)
			dst, turned := at(c.Out, o*toOut), c.panels()
			width, bytes := simd.TurnedSize(e.size, rows)
			pad := move(turned, bytes)
			x := dst
			if sideBySide {
				x = at(c.In[0], kept.at(o)*e.size)
			} else {
				gather(e.x, sliceAt[T](dst, rows*e.n), raw[T](c.In[0]), 0, o*e.n)
			}
			simd.Turn(level, e.size, turned, x, pad, rows, e.n, width, toX)
			if e.kind == logSumExp {
				e.strip(c, dst, turned, rows, width, width)
				continue
			}
			e.strip(c, turned, turned, rows, width, width)
			simd.TurnBack(level, e.size, dst, turned, pad, rows, e.n, width)
		}
	}}
}

// byRow combines each row of x with one value of y, into dst.
func (e *exponentials[T]) byRow(c *Ctx, z simd.Zips, dst, x, y *byte, rows, toX int) {
	width := e.n * e.size
	if z.OneY != nil {
		z.OneY(dst, x, y, rows, e.n, width, toX, e.size)
		return
	}
	buf := hand(c, 2)
	for i := range rows {
		e.spread(buf, move(y, i*e.size), 1, min(piece, e.n), 0, 0)
		for j := 0; j < e.n; j += piece {
			z.Rows(move(dst, i*width+j*e.size), move(x, i*toX+j*e.size), buf, 1, min(piece, e.n-j), 0, 0, 0)
		}
	}
}

// logOfSum sets dst to peak + log sum. An infinite peak decides alone: its differences are NaN.
func (e *exponentials[T]) logOfSum(dst, peak, sum *byte, n int) {
	e.log(sum, sum, 1, n, 0, 0)
	e.add.Rows(dst, peak, sum, 1, n, 0, 0, 0)
	e.rowPeak(sum, peak, 1, n, 0)
	e.rowLow(move(sum, e.size), peak, 1, n, 0)
	if ends := sliceAt[T](sum, 2); ends[0]-ends[0] == 0 && ends[1]-ends[1] == 0 {
		return
	}
	d := sliceAt[T](dst, n)
	for i, p := range sliceAt[T](peak, n) {
		if p-p != 0 {
			d[i] = p
		}
	}
}

// stripsLoop takes strips of rows side by side; the elements of a row are down bytes apart in the
// operand.
func (e *exponentials[T]) stripsLoop(kept *walk, down int, sideBySide bool) Bound {
	b := rowBlocks(kept.n, e.inner, min(max(64, 4*tileLen/e.n), piece))
	if !sideBySide {
		down = e.inner * e.size
	}
	return Bound{b.units, func(c *Ctx, lo, hi int) {
		checkReach(c, e.reachOut, e.reachX)
		for u := lo; u < hi; u++ {
			row, w := b.at(u) // rows are numbered as the operand's kept elements
			o := row
			if e.kind != logSumExp {
				o += row / e.inner * (e.n - 1) * e.inner
			}
			dst := at(c.Out, o*e.size)
			x := dst
			if sideBySide {
				x = at(c.In[0], kept.at(row)*e.size)
			} else {
				for i := range e.n {
					gather(e.x, sliceAt[T](move(dst, i*down), w), raw[T](c.In[0]), 0, o+i*e.inner)
				}
			}
			e.strip(c, dst, x, w, e.inner*e.size, down)
		}
	}}
}

// strip does w rows side by side; the elements of a row are width bytes apart in the result and
// down bytes in the operand.
func (e *exponentials[T]) strip(c *Ctx, dst, x *byte, w, width, down int) {
	peak, acc, exps, sum := hand(c, 0), hand(c, 1), hand(c, 2), hand(c, 3)
	e.spread(peak, pointerTo(e.lowest), 1, w, 0, 0)
	e.columnMax(peak, x, e.n, w, down)
	short := e.inner == 1
	if short {
		clear(sliceAt[T](sum, w))
	} else {
		clear(sliceAt[float64](acc, w))
	}
	high := tileBytes / (w * e.size)
	for i := 0; i < e.n; i += high {
		rows, to, toTo := min(high, e.n-i), exps, w*e.size
		if e.kind == softmax {
			to, toTo = move(dst, i*width), width
		}
		e.sub.Rows(to, move(x, i*down), peak, rows, w, toTo, down, 0)
		e.weight(to, to, rows, w, toTo, toTo)
		if short {
			e.columnAdd(sum, to, rows, w, toTo)
		} else {
			e.columnSum(acc, to, rows, w, toTo)
		}
	}
	if !short {
		e.narrow(sum, acc, 1, w, 0, 0)
	}
	switch e.kind {
	case softmax:
		e.reciprocal(sum, sum, 1, w, 0, 0)
		e.mul.Rows(dst, dst, sum, e.n, w, width, width, 0)
	case logSoftmax:
		e.log(sum, sum, 1, w, 0, 0)
		e.sub.Rows(dst, x, peak, e.n, w, width, down, 0)
		e.sub.Rows(dst, dst, sum, e.n, w, width, width, 0)
	case logSumExp:
		e.logOfSum(dst, peak, sum, w)
	}
}

// strewnLoop gathers the elements of each result of a LogSumExp.
func (e *exponentials[T]) strewnLoop(kept, row *walk) Bound {
	per := rowsPer(e.n)
	return Bound{blocks(kept.n, per), func(c *Ctx, lo, hi int) {
		checkReach(c, e.reachOut, e.reachX)
		src, peak, sum, part := raw[T](c.In[0]), hand(c, 0), hand(c, 1), hand(c, 3)
		buf := tile[T](c, 2)
		for o := lo * per; o < min(hi*per, kept.n); o++ {
			base := kept.at(o)
			e.spread(peak, pointerTo(e.lowest), 1, 1, 0, 0)
			sliceAt[T](sum, 1)[0] = 0
			for j := 0; j < e.n; j += piece {
				m := min(piece, e.n-j)
				gather(row, buf[:m], src, base, j)
				e.rowPeak(part, pointerTo(buf), 1, m, 0)
				e.max.Rows(peak, peak, part, 1, 1, 0, 0, 0)
			}
			for j := 0; j < e.n; j += piece {
				m := min(piece, e.n-j)
				gather(row, buf[:m], src, base, j)
				e.expSum(pointerTo(buf), part, pointerTo(buf), peak, 1, m, 0, 0, 0)
				e.add.Rows(sum, sum, part, 1, 1, 0, 0, 0)
			}
			e.logOfSum(at(c.Out, o*e.size), peak, sum, 1)
		}
	}}
}
