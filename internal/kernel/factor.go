package kernel

import (
	"math"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// QR is the factors Q·R = A of the matrices in the last two axes, of at least as many rows as columns:
// the rows of Q, with orthonormal columns, above those of R, upper triangular with a positive diagonal.
// Where the columns of A are linearly dependent, to rounding, all is NaN.
type QR struct{ apart }

// Flops counts 4mn² for each matrix: two passes over the columns, or reflections and their product.
func (QR) Flops(_ Layout, in []Layout) int64 {
	n := int64(in[0].Dims[in[0].Rank-1])
	return 4 * n * int64(in[0].Len())
}

// Bind takes one operand, of floats.
func (k QR) Bind(out Layout, in []Layout) Bound {
	m, n := in[0].Dims[in[0].Rank-2], in[0].Dims[in[0].Rank-1]
	if n >= blockedOrder {
		return bindMatrix(k, out, in[0], func(w *Worker, a, y, scratch []float64) { w.largeOrthonormalise(a, y, scratch, m, n) })
	}
	return bindMatrix(k, out, in[0], func(_ *Worker, a, y, scratch []float64) { orthonormalise(a, y, scratch, m, n) })
}

// Work is a matrix, its factors and its transpose, and what reflections take.
func (QR) Work(out Layout, in []Layout) int {
	more := matrixLen(in[0])
	if n := in[0].Dims[in[0].Rank-1]; n >= blockedOrder {
		more += reflectionBlock * (reflectionBlock + n)
	}
	return matrixWork(out, in[0], more)
}

// matrixWork is the bytes of a matrix, its result and further numbers.
func matrixWork(out, in Layout, more int) int { return 8 * (matrixLen(in) + matrixLen(out) + more) }

// bindMatrix binds a function of each matrix a to a result y, both dense, in the memory that k works in.
func bindMatrix(k Working, out, in Layout, f func(w *Worker, a, y, scratch []float64)) Bound {
	switch out.DType {
	case F32:
		return matrixLoop[float32](k, out, in, f)
	case F64:
		return matrixLoop[float64](k, out, in, f)
	}
	panic(unsupported(k, out.DType))
}

func matrixLoop[T float](k Working, lo, li Layout, f func(w *Worker, a, y, scratch []float64)) Bound {
	m := batchOf(li)
	na, ny := matrixLen(li), matrixLen(lo)
	return eachMatrix(m.count(), k.Work(lo, []Layout{li})/8, func(c *Ctx, u int, own []float64) {
		a, y := own[:na], own[na:na+ny]
		read64(m, raw[T](c.In[0]), u, a)
		f(c.Worker, a, y, own[na+ny:])
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
	if m > 0 && n > 0 {
		simd.Transpose(level, 8, first(t), first(a), m, n, 8*m, 8*n)
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

// dot is the sum of the products of elements, in four partial sums.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 += float64(v * y[i])
	}
	return (s0 + s1) + (s2 + s3)
}
