package kernel

import "math"

// QR is the factors Q·R = A of the matrices in the last two axes, of at least as many rows as columns:
// the rows of Q, with orthonormal columns, above those of R, upper triangular with a positive diagonal.
// Where the columns of A are linearly dependent, to rounding, all is NaN.
type QR struct{ apart }

// Flops counts 8mn² for each matrix: two passes over the columns.
func (QR) Flops(_ Layout, in []Layout) int64 {
	n := int64(in[0].Dims[in[0].Rank-1])
	return 8 * n * int64(in[0].Len())
}

// Bind takes one operand, of floats.
func (k QR) Bind(out Layout, in []Layout) Bound {
	m, n := in[0].Dims[in[0].Rank-2], in[0].Dims[in[0].Rank-1]
	return bindMatrix(k, out, in[0], m*n, func(a, y, scratch []float64) { orthonormalise(a, y, scratch, m, n) })
}

// bindMatrix binds a function of each matrix a to a result y, both dense, with further scratch.
func bindMatrix(k Kernel, out, in Layout, scratch int, f func(a, y, scratch []float64)) Bound {
	switch out.DType {
	case F32:
		return matrixLoop[float32](out, in, scratch, f)
	case F64:
		return matrixLoop[float64](out, in, scratch, f)
	}
	panic(unsupported(k, out.DType))
}

func matrixLoop[T float](lo, li Layout, scratch int, f func(a, y, scratch []float64)) Bound {
	m := batchOf(li)
	na, ny := m.rows*m.cols, lo.Dims[lo.Rank-2]*lo.Dims[lo.Rank-1]
	return eachMatrix(m.count(), na+ny+scratch, func(c *Ctx, u int, own []float64) {
		a, y := own[:na], own[na:na+ny]
		read64(m, raw[T](c.In[0]), u, a)
		f(a, y, own[na+ny:])
		write64(raw[T](c.Out), u, y)
	})
}

// orthonormalise is Gram and Schmidt's process in its modified form. A second pass over each column
// makes it orthogonal to the others to rounding; see Giraud and others, The loss of orthogonality in the
// Gram–Schmidt orthogonalization process (2005). Columns of Q are rows of t meanwhile.
func orthonormalise(a, y, t []float64, m, n int) {
	transposeTo(t, a, m, n)
	r := y[m*n:]
	clear(r)
	for j := range n {
		col := t[j*m : (j+1)*m]
		before := norm(col)
		for range 2 {
			for i := range j {
				q := t[i*m : (i+1)*m]
				s := dot(q, col)
				subtract(col, s, q)
				r[i*n+j] += s
			}
		}
		d := norm(col)
		if !(d > before*float64(m)*0x1p-52) || math.IsInf(d, 1) {
			undefine(y)
			return
		}
		r[j*n+j] = d
		for i := range col {
			col[i] /= d
		}
	}
	transposeTo(y[:m*n], t, n, m)
}

// transposeTo writes the transpose of the m×n matrix a to t.
func transposeTo(t, a []float64, m, n int) {
	for i := range m {
		for j := range n {
			t[j*m+i] = a[i*n+j]
		}
	}
}

// norm is the Euclidean norm of x, by a scale that neither overflows nor underflows.
func norm(x []float64) float64 {
	scale := 0.0
	for _, v := range x {
		if v != v {
			return v
		}
		scale = max(scale, math.Abs(v))
	}
	if scale == 0 || math.IsInf(scale, 1) {
		return scale
	}
	s := 0.0
	for _, v := range x {
		v /= scale
		s += float64(v * v)
	}
	return scale * math.Sqrt(s)
}

func dot(x, y []float64) float64 {
	y = y[:len(x)]
	s := 0.0
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}
