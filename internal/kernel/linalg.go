package kernel

import "math"

// Cholesky is the lower triangle L with L·Lᵀ = ½(A + Aᵀ), of the matrices in the last two axes. Where
// that is not positive definite, the whole matrix is NaN.
type Cholesky struct{ apart }

// SolveTriangular is the solution X of A·X = B, for the matrices in the last two axes. Of A one
// triangle is read, with ones for its diagonal where Unit is set. Where an element of the diagonal is
// 0, the whole matrix is NaN.
type SolveTriangular struct {
	apart
	Upper, Unit bool
}

// Solve is the solution X of A·X = B by elimination with row pivots, for the matrices in the last two
// axes. Where a pivot is 0 the whole matrix is NaN.
type Solve struct{ apart }

// Determinant is log |det A|, or with Sign the sign of det A, of the matrices in the last two axes.
type Determinant struct {
	apart
	Sign bool
}

// Flops counts n³/3 for each matrix.
func (Cholesky) Flops(out Layout, _ []Layout) int64 {
	return int64(out.Len()) * int64(out.Dims[out.Rank-1]) / 3
}

// Flops counts n² for each column.
func (SolveTriangular) Flops(out Layout, _ []Layout) int64 {
	return int64(out.Len()) * int64(out.Dims[out.Rank-2])
}

// Flops counts ⅔n³ for each matrix, and 2n² for each column.
func (Solve) Flops(out Layout, in []Layout) int64 {
	n := int64(out.Dims[out.Rank-2])
	return int64(in[0].Len())*n*2/3 + 2*n*int64(out.Len())
}

// Flops counts ⅔n³ for each matrix.
func (Determinant) Flops(_ Layout, in []Layout) int64 {
	return int64(in[0].Len()) * int64(in[0].Dims[in[0].Rank-1]) * 2 / 3
}

// matrixBatch is the matrices in the last two axes of an array.
type matrixBatch struct {
	layout     Layout
	rows, cols int
	down, next int // strides
}

func batchOf(l Layout) matrixBatch {
	r := l.Rank
	return matrixBatch{l, l.Dims[r-2], l.Dims[r-1], l.Strides[r-2], l.Strides[r-1]}
}

// count returns the number of matrices.
func (m matrixBatch) count() int {
	n := 1
	for _, d := range m.layout.Dims[:m.layout.Rank-2] {
		n *= d
	}
	return n
}

// start returns the position of the first element of a matrix.
func (m matrixBatch) start(i int) int {
	at := m.layout.Offset
	for a := m.layout.Rank - 3; a >= 0; a-- {
		d := m.layout.Dims[a]
		at += i % d * m.layout.Strides[a]
		i /= d
	}
	return at
}

// read64 copies a matrix to dst, dense.
func read64[T float](m matrixBatch, src []T, i int, dst []float64) {
	at := m.start(i)
	for r := range m.rows {
		row := dst[r*m.cols : (r+1)*m.cols]
		for c := range row {
			row[c] = float64(src[at+r*m.down+c*m.next])
		}
	}
}

// write64 rounds a dense matrix to its place in a dense result.
func write64[T float](dst []T, i int, src []float64) {
	dst = dst[i*len(src) : (i+1)*len(src)]
	for p, v := range src {
		dst[p] = T(v)
	}
}

// undefine makes all elements NaN.
func undefine(x []float64) {
	for i := range x {
		x[i] = math.NaN()
	}
}

// eachMatrix binds a loop whose units are matrices, with scratch of so many numbers, all that k works in.
func eachMatrix(units, scratch int, one func(c *Ctx, u int, scratch []float64)) Bound {
	return Bound{units, func(c *Ctx, lo, hi int) {
		own := raw[float64](c.working(8 * scratch))
		for u := lo; u < hi; u++ {
			one(c, u, own)
		}
	}}
}

// Work is a matrix.
func (Cholesky) Work(_ Layout, in []Layout) int { return 8 * matrixLen(in[0]) }

// Work is a matrix and its right sides.
func (SolveTriangular) Work(_ Layout, in []Layout) int {
	return 8 * (matrixLen(in[0]) + matrixLen(in[1]))
}

// Work is a matrix and its right sides.
func (Solve) Work(_ Layout, in []Layout) int { return 8 * (matrixLen(in[0]) + matrixLen(in[1])) }

// Work is a matrix.
func (Determinant) Work(_ Layout, in []Layout) int { return 8 * matrixLen(in[0]) }

// matrixLen is the number of elements of a matrix in the last two axes.
func matrixLen(l Layout) int { return l.Dims[l.Rank-2] * l.Dims[l.Rank-1] }

// Bind takes one operand, of floats.
func (k Cholesky) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return choleskyLoop[float32](out, in[0])
	case F64:
		return choleskyLoop[float64](out, in[0])
	}
	panic(unsupported(k, out.DType))
}

func choleskyLoop[T float](out, l Layout) Bound {
	m := batchOf(l)
	n := m.rows
	if areSmall(m.count(), n, 0) {
		return smallCholesky[T](out, l)
	}
	return eachMatrix(m.count(), n*n, func(c *Ctx, u int, a []float64) {
		read64(m, raw[T](c.In[0]), u, a)
		if n >= blockedOrder {
			c.largeCholesky(a, n)
		} else {
			cholesky(a, n)
		}
		write64(raw[T](c.Out), u, a)
	})
}

// cholesky puts the factor of the symmetric part of a in its place.
func cholesky(a []float64, n int) {
	for i := range n {
		row := a[i*n : (i+1)*n]
		for j := range i {
			other := a[j*n : (j+1)*n]
			s := (row[j] + other[i]) / 2
			other[i] = 0
			for k, v := range other[:j] {
				s -= float64(v * row[k])
			}
			row[j] = s / other[j]
		}
		d := row[i]
		for _, v := range row[:i] {
			d -= float64(v * v)
		}
		if !(d > 0) || math.IsInf(d, 1) {
			undefine(a)
			return
		}
		row[i] = math.Sqrt(d)
	}
}

// Bind takes the matrices A and B, of floats.
func (k SolveTriangular) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return triangularLoop[float32](k, out, in)
	case F64:
		return triangularLoop[float64](k, out, in)
	}
	panic(unsupported(k, out.DType))
}

func triangularLoop[T float](k SolveTriangular, out Layout, in []Layout) Bound {
	ma, mb := batchOf(in[0]), batchOf(in[1])
	n := ma.rows
	if areSmall(ma.count(), n, mb.cols) && mb.cols > 0 {
		return smallTriangular[T](k, out, in)
	}
	return eachMatrix(ma.count(), n*n+n*mb.cols, func(c *Ctx, u int, scratch []float64) {
		a, x := scratch[:n*n], scratch[n*n:]
		read64(ma, raw[T](c.In[0]), u, a)
		read64(mb, raw[T](c.In[1]), u, x)
		c.solveTriangle(a, x, n, mb.cols, k.Upper, k.Unit)
		write64(raw[T](c.Out), u, x)
	})
}

// solveTriangle solves with a triangle of a, in the place of x.
func (w *Worker) solveTriangle(a, x []float64, n, m int, upper, unit bool) {
	t, b := matrix64{a, n, 1}, matrix64{x, m, 1}
	solve := w.solveLower
	if upper {
		solve = w.solveUpper
	}
	if n > 0 && m > 0 && !solve(t, b, n, m, unit) {
		undefine(x)
	}
}

// subtract takes f·y from x.
func subtract(x []float64, f float64, y []float64) {
	y = y[:len(x)]
	for i := range x {
		x[i] -= float64(f * y[i])
	}
}

// divide divides x by d, and reports whether that is not 0.
func divide(x []float64, d float64) bool {
	for i := range x {
		x[i] /= d
	}
	return d != 0
}

// Bind takes the matrices A and B, of floats.
func (k Solve) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return solveLoop[float32](in[0], in[1])
	case F64:
		return solveLoop[float64](in[0], in[1])
	}
	panic(unsupported(k, out.DType))
}

func solveLoop[T float](la, lb Layout) Bound {
	ma, mb := batchOf(la), batchOf(lb)
	n := ma.rows
	return eachMatrix(ma.count(), n*n+n*mb.cols, func(c *Ctx, u int, scratch []float64) {
		a, x := scratch[:n*n], scratch[n*n:]
		read64(ma, raw[T](c.In[0]), u, a)
		read64(mb, raw[T](c.In[1]), u, x)
		c.eliminate(a, x, n, mb.cols)
		c.solveTriangle(a, x, n, mb.cols, true, false)
		write64(raw[T](c.Out), u, x)
	})
}

// eliminate makes the upper triangle of a that of its elimination, with the largest pivot of each
// column, does the same to the rows of x, and returns the sign of the permutation. Elements below the
// diagonal are left over. It stops at a pivot that is 0, which stays on the diagonal.
func (w *Worker) eliminate(a, x []float64, n, m int) (sign float64) {
	if n >= blockedOrder {
		sign = w.eliminateColumns(a, x, n, m, 0, n)
		w.solveTriangle(a, x, n, m, false, true)
		return sign
	}
	sign = 1
	for k := range n {
		if exchangeRows(a, x, n, m, k) {
			sign = -sign
		}
		pivot := a[k*n+k]
		if pivot == 0 {
			return sign
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / pivot
			subtract(a[i*n+k+1:(i+1)*n], f, a[k*n+k+1:(k+1)*n])
			subtract(x[i*m:(i+1)*m], f, x[k*m:(k+1)*m])
		}
	}
	return sign
}

// exchangeRows brings the largest element of column k, from row k on, to the diagonal, and reports whether
// it moved.
func exchangeRows(a, x []float64, n, m, k int) bool {
	p := k
	for i := k + 1; i < n; i++ {
		if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
			p = i
		}
	}
	if p != k {
		swap(a[k*n:(k+1)*n], a[p*n:(p+1)*n])
		swap(x[k*m:(k+1)*m], x[p*m:(p+1)*m])
	}
	return p != k
}

func swap(x, y []float64) {
	for i := range x {
		x[i], y[i] = y[i], x[i]
	}
}

// Bind takes one operand, of floats.
func (k Determinant) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return determinantLoop[float32](k, in[0])
	case F64:
		return determinantLoop[float64](k, in[0])
	}
	panic(unsupported(k, out.DType))
}

func determinantLoop[T float](k Determinant, l Layout) Bound {
	m := batchOf(l)
	n := m.rows
	return eachMatrix(m.count(), n*n, func(c *Ctx, u int, a []float64) {
		read64(m, raw[T](c.In[0]), u, a)
		sign, log := c.eliminate(a, nil, n, 0), 0.0
		for i := range n {
			d := a[i*n+i]
			log += math.Log(math.Abs(d))
			switch {
			case d == 0:
				sign, log = 0, math.Inf(-1)
			case d != d:
				sign = d
			case d < 0:
				sign = -sign
			}
			if d == 0 {
				break
			}
		}
		if k.Sign {
			log = sign
		}
		raw[T](c.Out)[u] = T(log)
	})
}
