package kernel

import (
	"math/bits"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Standardise is (x - mean)/√(variance + Eps) over the axes in the bit set Axes: the elements that
// share a mean have mean 0 and, but for Eps, variance 1 afterwards. The variance is that of the
// population, a mean of squared differences from the mean, so that nothing cancels however far from
// 0 the elements are. Where an element is NaN or infinite, or where all are equal and Eps is 0, all
// that share its mean become NaN.
type Standardise struct {
	denseInPlace
	Axes uint8
	Eps  float64
}

// Rstd is the reciprocal standard deviation 1/√(variance + Eps) over the axes in the bit set Axes,
// by which [Standardise] multiplies. The result has the other axes, in order; whether the folded
// ones are kept with size 1 does not matter.
type Rstd struct {
	denseApart
	Axes uint8
	Eps  float64
}

// denseInPlace is embedded by kernels of a dense operand that may overwrite it.
type denseInPlace struct{}

func (denseInPlace) InPlace(int) bool { return true }
func (denseInPlace) Strided(int) bool { return false }

// denseApart is embedded by kernels of dense operands that must not share memory with the result.
type denseApart struct{}

func (denseApart) InPlace(int) bool { return false }
func (denseApart) Strided(int) bool { return false }

// Flops counts six per element: a sum; a difference, a product and a sum; a difference and a
// product.
func (Standardise) Flops(out Layout, _ []Layout) int64 { return 6 * int64(out.Len()) }

// Flops counts four per element of the operand: a sum; a difference, a product and a sum.
func (Rstd) Flops(_ Layout, in []Layout) int64 { return 4 * int64(in[0].Len()) }

// Divide divides along the axes before the first that is averaged over.
func (k Standardise) Divide(out Layout, in []Layout) []Division {
	return along(out, in, leading(in[0], k.Axes))
}

// Divide divides along the axes before the first that is averaged over.
func (k Rstd) Divide(out Layout, in []Layout) []Division {
	return along(out, in, leading(in[0], k.Axes))
}

// leading returns the number of axes before the first of the set.
func leading(l Layout, axes uint8) int { return min(bits.TrailingZeros8(axes), l.Rank) }

// Bind takes one operand, of floats.
func (k Standardise) Bind(out Layout, in []Layout) Bound {
	return momentLoop(k, out, in[0], k.Axes, k.Eps, true)
}

// Bind takes one operand, of floats.
func (k Rstd) Bind(out Layout, in []Layout) Bound {
	return momentLoop(k, out, in[0], k.Axes, k.Eps, false)
}

func momentLoop(k Kernel, out, x Layout, axes uint8, eps float64, whole bool) Bound {
	switch out.DType {
	case F32:
		return bindMoments[float32](out, x, axes, eps, whole)
	case F64:
		return bindMoments[float64](out, x, axes, eps, whole)
	}
	panic(unsupported(k, out.DType))
}

// moments holds the loops that compute mean and variance. A unit is n results, neighbours along the
// innermost kept axis. Where the innermost axis of all is averaged over, each is a row of it; else
// a column. Where that axis is short, and another one outside of the results is averaged over too,
// as in groups of channels, each result is a group of neighbouring columns. Sums of float32 are
// float32 within rows of at most piece elements and within octet rows of columns; those are added
// in float64.
type moments[T float] struct {
	eps         float64
	whole       bool // the result is the operand standardised
	size        int  // bytes of an element
	kept, outer *walk
	share       float64 // of an element in a mean
	high, far   int     // size and stride in bytes of the innermost axis that is averaged over
	near        int     // bytes between neighbouring results' elements
	group       int     // columns of a result, 1 or as [grouped] says
	reach, out  int     // bytes of the operand and of the result

	row         simd.Fold
	deviation   simd.ZipFold
	columnSum   simd.ColumnSum
	deviations  simd.ColumnDeviation // may be nil
	sub, mul    simd.Zips
	square      simd.Map
	standardise simd.Standardise

	rsqrt, narrow simd.Map // of float64
}

// maxColumns is the width of a unit of columns: eight rows of it fill a tile.
const maxColumns = tileLen / octet

// bindMoments binds the loop of a dense operand.
func bindMoments[T float](out, x Layout, axes uint8, eps float64, whole bool) Bound {
	m := &moments[T]{
		eps: eps, whole: whole, size: sizeOf[T](), kept: walkOf(x, ^axes, 0), outer: walkOf(x, axes, 0),
		reach: x.Len() * sizeOf[T](), out: out.Len() * sizeOf[T](),
		row: simd.FoldOf[T](level, simd.SumOf), deviation: simd.DeviationOf[T](level), columnSum: simd.ColumnSumOf[T](level),
		deviations: simd.ColumnDeviationOf[T](level),
		sub:        simd.ZipOf[T](level, simd.Sub), mul: simd.ZipOf[T](level, simd.Mul), square: simd.MapOf[T](level, simd.Square),
		standardise: simd.StandardiseOf[T](level),
		rsqrt:       simd.MapOf[float64](level, simd.Rsqrt), narrow: simd.CastOf[T, float64](level),
	}
	if out.Len() == 0 {
		return idle
	}
	dim, near := m.kept.inner()
	high, far := m.outer.inner()
	terms := m.outer.n
	m.share, m.outer, m.group = 1/float64(terms), m.outer.outer(), 1
	if grouped(m.kept, m.outer, high, far) {
		m.group = high
		high, far = m.outer.inner()
		m.outer = m.outer.outer()
	}
	m.high, m.far, m.near = high, far*m.size, near*m.size
	across := unitLen / max(1, terms) // results in a unit
	byRow := m.group == 1 && far == 1 && (near != 1 || dim == 1)
	per := min(max(1, across), tileLen)
	if !byRow {
		per = max(1, min(max(maxColumns/2, across), maxColumns)/m.group)
	}
	b := rowBlocks(m.kept.n, dim, per)
	return Bound{b.units, func(c *Ctx, lo, hi int) {
		checkReach(c, m.out, m.reach)
		for u := lo; u < hi; u++ {
			o, n := b.at(u)
			x := m.kept.at(o) * m.size
			if byRow {
				m.rows(c, x, o, n)
			} else {
				m.columns(c, x, o, n)
			}
		}
	}}
}

// rows does n rows for each index of the outer axes. The elements of the first are x bytes from the
// start of the operand; the first result is the o-th.
func (m *moments[T]) rows(c *Ctx, x, o, n int) {
	part, acc, mean, scale := hand(c, 0), hand(c, 1), hand(c, 2), hand(c, 3)
	for pass := range 2 { // sums, then sums of squared differences
		clear(sliceAt[float64](acc, n))
		for cur, i := m.outer.seek(0), 0; i < m.outer.n; i++ {
			src := at(c.In[0], x+cur.pos*m.size)
			for j := 0; j < m.high; j += piece {
				from, cols := move(src, j*m.size), min(piece, m.high-j)
				if pass == 0 {
					m.row(part, from, n, cols, m.near)
				} else {
					m.deviation(part, from, mean, n, cols, m.near, m.size)
				}
				m.columnSum(acc, part, 1, n, 0)
			}
			m.outer.step(&cur, 1)
		}
		if pass == 0 {
			m.means(mean, acc, n)
		}
	}
	if !m.whole {
		m.scales(at(c.Out, o*m.size), acc, n)
		return
	}
	m.scales(scale, acc, n)
	for cur, i := m.outer.seek(0), 0; i < m.outer.n; i++ {
		p := x + cur.pos*m.size
		m.standardise(at(c.Out, p), at(c.In[0], p), mean, scale, n, m.high, m.near, m.near, m.size, m.size)
		m.outer.step(&cur, 1)
	}
}

// columns does n results for each index of the outer axes, each a group of columns.
func (m *moments[T]) columns(c *Ctx, x, o, n int) {
	buf, acc, mean, scale := hand(c, 0), hand(c, 1), hand(c, 2), hand(c, 3)
	cols := n * m.group
	clear(sliceAt[float64](acc, cols))
	for cur, i := m.outer.seek(0), 0; i < m.outer.n; i++ {
		m.inStretches(at(c.In[0], x+cur.pos*m.size), cols, func(src *byte, high int) { m.columnSum(acc, src, high, cols, m.far) })
		m.outer.step(&cur, 1)
	}
	foldGroups(acc, n, m.group)
	m.means(mean, acc, n)
	repeatGroups[T](mean, n, m.group)
	clear(sliceAt[float64](acc, cols))
	width := cols * m.size
	for cur, i := m.outer.seek(0), 0; i < m.outer.n; i++ {
		src := at(c.In[0], x+cur.pos*m.size)
		if m.deviations != nil {
			m.inStretches(src, cols, func(src *byte, high int) { m.deviations(acc, src, mean, high, cols, m.far) })
			m.outer.step(&cur, 1)
			continue
		}
		for j := 0; j < m.high; j += octet {
			high := min(octet, m.high-j)
			m.sub.Rows(buf, move(src, j*m.far), mean, high, cols, width, m.far, 0)
			m.square(buf, buf, 1, high*cols, 0, 0)
			m.columnSum(acc, buf, high, cols, width)
		}
		m.outer.step(&cur, 1)
	}
	foldGroups(acc, n, m.group)
	if !m.whole {
		m.scales(at(c.Out, o*m.size), acc, n)
		return
	}
	m.scales(scale, acc, n)
	repeatGroups[T](scale, n, m.group)
	for cur, i := m.outer.seek(0), 0; i < m.outer.n; i++ {
		p := x + cur.pos*m.size
		for j := 0; j < m.high; j += octet { // the difference stays in the cache
			high := min(octet, m.high-j)
			dst := at(c.Out, p+j*m.far)
			m.sub.Rows(dst, at(c.In[0], p+j*m.far), mean, high, cols, m.far, m.far, 0)
			m.mul.Rows(dst, dst, scale, high, cols, m.far, m.far, 0)
		}
		m.outer.step(&cur, 1)
	}
}

// inStretches calls f for rows of n columns, a multiple of [octet] at a time but for the last, and
// has the processor fetch the next ones before: the loops over columns jump from row to row, which
// it does not foresee.
func (m *moments[T]) inStretches(src *byte, n int, f func(src *byte, high int)) {
	width := n * m.size
	rows := max(1, stretchBytes/(octet*width)) * octet
	for j := 0; j < m.high; j += rows {
		if next := min(m.high-j-rows, rows); next > 0 && fetchToRead != nil && width == m.far {
			fetchToRead(move(src, (j+rows)*width), next*width/alignment)
		}
		f(move(src, j*m.far), min(rows, m.high-j))
	}
}

// stretchBytes is how much is read of an array while the next part of it is fetched.
const stretchBytes = 4 << 10

// means turns n sums into means.
func (m *moments[T]) means(dst, acc *byte, n int) {
	sums := sliceAt[float64](acc, n)
	for i := range sums {
		sums[i] *= m.share
	}
	m.narrow(dst, acc, 1, n, 0, 0)
}

// scales turns n sums of squared differences into reciprocal standard deviations.
func (m *moments[T]) scales(dst, acc *byte, n int) {
	sums := sliceAt[float64](acc, n)
	for i := range sums {
		sums[i] = float64(sums[i]*m.share) + m.eps
	}
	m.rsqrt(acc, acc, 1, n, 0, 0)
	m.narrow(dst, acc, 1, n, 0, 0)
}
