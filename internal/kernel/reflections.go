package kernel

import "math"

// reflectionBlock is how many reflections are applied at once.
const reflectionBlock = 64

// reflection makes x the vector u of the reflection 1 − u·uᵀ, of u·u = 2, that takes x to a multiple of the
// first unit vector, and returns that multiple. It is 0, and so is u, where x is.
func reflection(x []float64) (multiple float64) {
	size := norm(x)
	if size == 0 {
		return 0
	}
	for i := range x {
		x[i] /= size
	}
	sign := math.Copysign(1, x[0])
	x[0] += sign
	scale := 1 / math.Sqrt(math.Abs(x[0]))
	for i := range x {
		x[i] *= scale
	}
	return -sign * size
}

// reflect turns the rows of x, of m components, by the reflections of k vectors, the rows of u: by the
// first of them first, or the last with backward set. Their product is 1 − uᵀ·t⁻¹·u, where t has the
// elements of u·uᵀ in one triangle and ones on its diagonal; see Schreiber and Van Loan, A storage-efficient
// WY representation for products of Householder transformations (1989), and Joffrain and others,
// Accumulating Householder transformations, revisited (2006). Scratch has k² + k·rows numbers.
func (w *Worker) reflect(x, u matrix64, scratch []float64, rows, m, k int, backward bool) {
	t, s := matrix64{scratch, k, 1}, matrix64{scratch[k*k:], rows, 1}
	clear(scratch[:k*k+k*rows])
	w.addProduct(t, u, u.turned(), 1, k, k, m, true)
	w.addProduct(s, u, x.turned(), 1, k, rows, m, false)
	if backward {
		w.solveUpper(t, s, k, rows, true)
	} else {
		w.solveLower(t.turned(), s, k, rows, true)
	}
	w.addProduct(x, s.turned(), u, -1, rows, m, k, false)
}

// reflections makes rows from to to of t, of m components, those of the transpose of a triangle, by
// reflections whose vectors take their place. The triangle is r, of order n. It stops at a row that
// depends on those before it, to rounding, and reports whether there is none.
func (w *Worker) reflections(t, r, scratch []float64, m, n, from, to int) bool {
	if many := to - from; many > leafOrder/2 {
		mid := from + min(reflectionBlock, (many+1)/2)
		if !w.reflections(t, r, scratch, m, n, from, mid) {
			return false
		}
		all := matrix64{t, m, 1}
		w.reflect(all.from(mid, from), all.from(from, from), scratch, to-mid, m-from, mid-from, false)
		return w.reflections(t, r, scratch, m, n, mid, to)
	}
	for j := from; j < to; j++ {
		row := t[j*m : (j+1)*m]
		before := norm(row)
		for i := from; i < j; i++ {
			u := t[i*m+i : (i+1)*m]
			subtract(row[i:], dot(row[i:], u), u)
		}
		for i := range j {
			r[i*n+j], row[i] = row[i], 0
		}
		d := reflection(row[j:])
		if !(math.Abs(d) > before*float64(m)*0x1p-52) || math.IsInf(d, 0) {
			return false
		}
		r[j*n+j] = d
	}
	return true
}

// largeOrthonormalise is [orthonormalise] by reflections, for matrices of many columns. Reflections and
// columns of Q are rows meanwhile.
func (w *Worker) largeOrthonormalise(a, y, scratch []float64, m, n int) {
	t, r, scratch := scratch[:m*n], y[m*n:], scratch[m*n:]
	transposeTo(t, a, m, n)
	clear(r)
	if !w.reflections(t, r, scratch, m, n, 0, n) {
		undefine(y)
		return
	}
	clear(a)
	for i := range n {
		a[i*m+i] = math.Copysign(1, r[i*(n+1)])
		if r[i*(n+1)] < 0 {
			for j := i; j < n; j++ {
				r[i*n+j] = -r[i*n+j]
			}
		}
	}
	q, u := matrix64{a, m, 1}, matrix64{t, m, 1}
	for k := (n - 1) / reflectionBlock * reflectionBlock; k >= 0; k -= reflectionBlock {
		w.reflect(q.from(k, k), u.from(k, k), scratch, n-k, m-k, min(reflectionBlock, n-k), true)
	}
	transposeTo(y[:m*n], a, n, m)
}
