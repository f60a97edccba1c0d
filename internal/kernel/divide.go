package kernel

import "slices"

// A Division is a way to do the work of a kernel, bound to some shapes, row by row. A row is a part
// of the result that depends only on the same part of some operands, and on all of the others; or,
// when Accumulate is set, a part of the operands whose contribution can be added to the result.
// Blocks of neighbouring rows are computed by binding a kernel to the layouts that [Rows] returns.
type Division struct {
	// Dims are the sizes of the axes that count the rows, outer first. Without Accumulate they are
	// the result's first axes.
	Dims []int
	// Axes gives, for each operand and each of Dims, the operand's axis that goes with it; -1 if
	// there is none.
	Axes [][]int
	// Accumulate adds the contribution of a block of rows to the result; it is nil if the rows are
	// the result's own. First stands in for it on the first block: it writes the contribution,
	// whatever the result holds.
	First, Accumulate Kernel
	// Over is the divisor of the sum of all contributions; 0 stands for 1.
	Over int
	// Outer is how many of Dims, from the first on, are the result's first axes although rows are
	// added up: rows that differ along them belong to sums of their own.
	Outer int
}

// Sums returns how many sums the rows add up to where Accumulate is set.
func (d *Division) Sums() int {
	n := 1
	for _, dim := range d.Dims[:d.Outer] {
		n *= dim
	}
	return n
}

// Sum returns the layout of one of the sums in a result of all of them.
func (d *Division) Sum(out Layout) Layout {
	for a := range d.Outer {
		out.Dims[a] = 1
	}
	return Dense(out.DType, out.Dims[:out.Rank]...)
}

// Divider is implemented by kernels whose work divides into rows. The divisions are in order of
// preference.
type Divider interface {
	Divide(out Layout, in []Layout) []Division
}

// Rows describes an array divided into a number of equal parts, its rows.
type Rows struct {
	whole   Layout
	layout  Layout // of a row, but for the axis that is cut
	axis    int    // of the layout that is cut; -1: every row is the same
	unit    int    // indices of that axis in a row
	where   walk
	dims    []int         // of the axes that count the rows, as far as they are cut
	own     [MaxRank]int8 // the array's axes that go with them; -1 if there is none
	stride  int           // from row to row, where that is the same throughout
	uniform bool
	limit   int
}

// Rows divides an operand, the i-th, or the result for i = -1, into rows. ok is false where the
// axes do not divide into so many equal parts, or run backwards.
func (d Division) Rows(l Layout, i, rows int) (r Rows, ok bool) {
	c, unit, ok := carry(d.Dims, rows)
	if !ok {
		return Rows{}, false
	}
	r = Rows{whole: l, layout: l, axis: -1, unit: unit, limit: rows, dims: d.Dims[:c+1]}
	over := Layout{DType: l.DType, Rank: c + 1}
	for a := range c + 1 {
		over.Dims[a] = d.Dims[a]
		own := a
		if i >= 0 {
			own = d.Axes[i][a]
		}
		r.own[a] = int8(own)
		if own < 0 {
			continue
		}
		if l.Dims[own] != 1 {
			over.Strides[a] = l.Strides[own]
		}
		if over.Strides[a] < 0 {
			return Rows{}, false
		}
		if a < c {
			r.layout.Dims[own] = 1
		} else if l.Dims[own] != 1 || d.Dims[a] == 1 {
			r.axis = own
		}
	}
	r.where.over(&over, allAxes, 0)
	dim, stride := r.where.inner()
	r.uniform = r.where.rank == 1
	r.stride = stride * unit
	if !r.uniform {
		r.limit = dim / unit
	}
	return r, true
}

// carry finds the axis to cut for so many rows, where all axes before it are taken index by index,
// and how many of its indices make a row.
func carry(dims []int, rows int) (axis, unit int, ok bool) {
	if rows < 1 || len(dims) == 0 {
		return 0, 0, false
	}
	for a, d := range dims {
		if rows%d != 0 {
			return a, d / rows, d%rows == 0
		}
		if rows /= d; rows == 1 {
			return a, 1, true
		}
	}
	return 0, 0, false
}

// Layout returns the layout of n neighbouring rows, relative to the memory from [Rows.At] on.
func (r Rows) Layout(n int) Layout {
	l := r.layout
	if r.axis >= 0 {
		l.Dims[r.axis] = n * r.unit
	}
	return l
}

// At returns the number of elements from the start of the memory of all rows to that of a row.
func (r *Rows) At(row int) int {
	if r.uniform {
		return row * r.stride
	}
	return r.where.at(row * r.unit)
}

// Number returns the row-major position in the whole array of element e of the n rows from the
// given row on.
func (r Rows) Number(row, n, e int) int {
	var index [MaxRank]int
	block := r.Layout(n)
	for a := block.Rank - 1; a >= 0; a-- {
		index[a], e = e%block.Dims[a], e/block.Dims[a]
	}
	at := row * r.unit
	for a := len(r.dims) - 1; a >= 0; a-- {
		if own := r.own[a]; own >= 0 && r.whole.Dims[own] > 1 {
			index[own] += at % r.dims[a]
		}
		at /= r.dims[a]
	}
	number := 0
	for a, d := range r.whole.Dims[:r.whole.Rank] {
		number = number*d + index[a]
	}
	return number
}

// Uniform reports whether all rows are equally spaced, and their distance in elements; 0 means that
// all rows are the same.
func (r Rows) Uniform() (stride int, ok bool) { return r.stride, r.uniform }

// Same reports whether all rows are the same.
func (r Rows) Same() bool { return r.uniform && r.stride == 0 }

// Shared reports whether all rows of a block are the same; those of other blocks may be others.
func (r *Rows) Shared() bool { return r.axis < 0 }

// Limit returns a number of rows: blocks never cross a multiple of it, and between two multiples
// rows are equally spaced.
func (r Rows) Limit() int { return r.limit }

// Span returns the first element that a single row touches, and the one after the last, relative to
// At.
func (r Rows) Span() (lo, hi int) {
	l := r.Layout(1)
	lo = l.Offset
	hi = l.Offset + 1
	for a := range l.Rank {
		if s := (l.Dims[a] - 1) * l.Strides[a]; s < 0 {
			lo += s
		} else {
			hi += s
		}
	}
	return lo, hi
}

// aligned maps the first n axes of a result of the given rank to the axes of an operand that
// broadcasts to it from the right.
func aligned(n, rank, operand int) []int {
	axes := make([]int, n)
	for a := range axes {
		axes[a] = max(a-(rank-operand), -1)
	}
	return axes
}

// alike divides along the first n axes of the result, with which the operands are aligned from the
// right.
func alike(out Layout, in []Layout, n int) Division {
	d := Division{Dims: slices.Clone(out.Dims[:n])}
	for _, l := range in {
		d.Axes = append(d.Axes, aligned(n, out.Rank, l.Rank))
	}
	return d
}

// along divides along the first n axes, which are those of every operand.
func along(out Layout, in []Layout, n int) []Division {
	d := Division{Dims: slices.Clone(out.Dims[:n])}
	for range in {
		d.Axes = append(d.Axes, aligned(n, n, n))
	}
	return []Division{d}
}

// matrixRows divides along the batch and the rows of the result's matrices, which are those of the
// first n operands.
func matrixRows(out Layout, in []Layout, n int) Division {
	d := alike(out, in, out.Rank-1)
	for i := n; i < len(in); i++ {
		d.Axes[i][out.Rank-2] = -1
	}
	return d
}
