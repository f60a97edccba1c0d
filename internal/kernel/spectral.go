package kernel

import (
	"math"
	"slices"
)

// Eigh is the eigenvalues, in ascending order, above the eigenvectors, as columns, of the symmetric part
// ½(A + Aᵀ) of the matrices in the last two axes. The component of largest magnitude of each vector,
// the first of equals, is positive. Where an element is not finite, all is NaN.
type Eigh struct{ apart }

// SVD is the left singular vectors, as columns, above the singular values, in descending order, above
// the right singular vectors, of the matrices in the last two axes. The component of largest magnitude
// of each right vector, the first of equals, is positive. Where an element is not finite, all is NaN.
type SVD struct{ apart }

// maxSweeps bounds the passes over all pairs. Some ten converge.
const maxSweeps = 60

// Flops counts 12n³ for half of the pairs in each of eight sweeps of a matrix, or 7n³: 2n³ for reflections,
// as much for their product, and the rest for the vectors of the tridiagonal matrix.
func (Eigh) Flops(_ Layout, in []Layout) int64 {
	n := int64(in[0].Dims[in[0].Rank-1])
	if n >= tridiagonalOrder {
		return 7 * n * int64(in[0].Len())
	}
	return 96 * n * n * int64(in[0].Len()) / 2
}

// Flops counts 6 for each element and pair, of each of eight sweeps of a matrix, or the eigenvectors of a
// product and six products.
func (SVD) Flops(_ Layout, in []Layout) int64 {
	m, n := in[0].Dims[in[0].Rank-2], in[0].Dims[in[0].Rank-1]
	if min(m, n) >= tridiagonalOrder {
		return 19 * int64(min(m, n)) * int64(in[0].Len())
	}
	return 48 * int64(min(m, n)) * int64(in[0].Len())
}

// Bind takes one operand, of floats.
func (k Eigh) Bind(out Layout, in []Layout) Bound {
	n := in[0].Dims[in[0].Rank-1]
	return bindMatrix(k, out, in[0], func(w *Worker, a, y, scratch []float64) { w.eigh(a, y, scratch, n) })
}

// Bind takes one operand, of floats.
func (k SVD) Bind(out Layout, in []Layout) Bound {
	m, n := in[0].Dims[in[0].Rank-2], in[0].Dims[in[0].Rank-1]
	return bindMatrix(k, out, in[0], func(w *Worker, a, y, scratch []float64) { w.svd(a, y, scratch, m, n) })
}

// Work is a matrix, its result, the vectors and a tridiagonal matrix.
func (Eigh) Work(out Layout, in []Layout) int {
	n := in[0].Dims[in[0].Rank-1]
	more := n * n
	if n >= tridiagonalOrder {
		more += tridiagonalWork(n)
	}
	return matrixWork(out, in[0], more)
}

// Work is a matrix, its result, both kinds of vectors, the values, and the spectrum of a product.
func (SVD) Work(out Layout, in []Layout) int {
	k := out.Dims[out.Rank-1]
	more := matrixLen(in[0]) + k*(k+1)
	if k >= tridiagonalOrder {
		more += k*k + tridiagonalWork(k)
	}
	return matrixWork(out, in[0], more)
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v - v) })
}

// eigh makes a diagonal, and the eigenvectors rows of scratch meanwhile.
func (w *Worker) eigh(a, y, scratch []float64, n int) {
	if !finite(a) {
		undefine(y)
		return
	}
	v := scratch[:n*n]
	for i := range n {
		for j := range i {
			s := a[i*n+j]/2 + a[j*n+i]/2
			a[i*n+j], a[j*n+i] = s, s
		}
	}
	// A power of two keeps squares from overflowing and loses nothing.
	exponent := 0
	if n >= tridiagonalOrder {
		exponent = reduced(a)
		w.tridiagonal(a, v, scratch[n*n:], n)
	} else {
		jacobi(a, v, n)
	}
	for j := range n {
		least := j
		for i := j + 1; i < n; i++ {
			if a[i*n+i] < a[least*n+least] {
				least = i
			}
		}
		a[j*n+j], a[least*n+least] = a[least*n+least], a[j*n+j]
		if least != j {
			swap(v[j*n:(j+1)*n], v[least*n:(least+1)*n])
		}
		y[j] = math.Ldexp(a[j*n+j], exponent)
		sign := signOf(v[j*n : (j+1)*n])
		for i := range n {
			y[(1+i)*n+j] = sign * v[j*n+i]
		}
	}
}

// reduced divides x by a power of two near its largest element, and returns the exponent.
func reduced(x []float64) (exponent int) {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	_, exponent = math.Frexp(largest)
	for i, v := range x {
		x[i] = math.Ldexp(v, -exponent)
	}
	return exponent
}

// jacobi is Jacobi's method with the pairs in their order; see Golub and Van Loan, Matrix computations
// (4th edition, 2013), §8.5. It leaves the eigenvalues on the diagonal of a, and the eigenvectors in the
// rows of v.
func jacobi(a, v []float64, n int) {
	clear(v)
	for i := range n {
		v[i*n+i] = 1
	}
	nothing := norm(a) * 0x1p-80
	for range maxSweeps {
		still := true
		for p := range n {
			for q := p + 1; q < n; q++ {
				app, aqq, apq := a[p*n+p], a[q*n+q], a[p*n+q]
				if math.Abs(apq) <= max(nothing, 0x1p-54*math.Sqrt(math.Abs(app))*math.Sqrt(math.Abs(aqq))) {
					continue
				}
				still = false
				c, s, t := turning(app, aqq, apq)
				turn(a[p*n:(p+1)*n], a[q*n:(q+1)*n], c, s)
				turn(v[p*n:(p+1)*n], v[q*n:(q+1)*n], c, s)
				for k := range n {
					a[k*n+p], a[k*n+q] = a[p*n+k], a[q*n+k]
				}
				a[p*n+p], a[q*n+q] = app-float64(t*apq), aqq+float64(t*apq)
				a[p*n+q], a[q*n+p] = 0, 0
			}
		}
		if still {
			break
		}
	}
}

// turning is the cosine, sine and tangent of the smaller angle by which a pair is turned so that the
// element apq of its symmetric matrix becomes 0.
func turning(app, aqq, apq float64) (c, s, t float64) {
	h := (aqq - app) / 2 / apq
	t = math.Copysign(1, h) / (math.Abs(h) + math.Hypot(1, h))
	c = 1 / math.Hypot(1, t)
	return c, t * c, t
}

// turn turns the rows p and q.
func turn(p, q []float64, c, s float64) {
	q = q[:len(p)]
	for k, x := range p {
		z := q[k]
		p[k] = float64(c*x) - float64(s*z)
		q[k] = float64(s*x) + float64(c*z)
	}
}

// signOf is the sign of the component of largest magnitude, the first of equals.
func signOf(x []float64) float64 {
	best := 0
	for i, v := range x {
		if math.Abs(v) > math.Abs(x[best]) {
			best = i
		}
	}
	return math.Copysign(1, x[best])
}

// svd is Jacobi's method on one side: it turns pairs of columns of A, or of Aᵀ where that has fewer,
// until they are orthogonal. It finds small singular values to a small relative error; see Demmel and
// Veselić, Jacobi's method is more accurate than QR (1992). Large matrices are first turned by the
// eigenvectors of AᵀA, which leaves few pairs that are not orthogonal.
func (worker *Worker) svd(a, y, scratch []float64, m, n int) {
	if !finite(a) {
		undefine(y)
		return
	}
	k, p := min(m, n), max(m, n)
	w, v, s := scratch[:k*p], scratch[k*p:k*p+k*k], scratch[k*p+k*k:k*p+k*k+k]
	if m >= n {
		transposeTo(w, a, m, n)
	} else {
		copy(w, a)
	}
	clear(v)
	for i := range k {
		v[i*k+i] = 1
	}
	exponent := reduced(w)
	var gram []float64
	if room := scratch[k*p+k*k+k:]; k >= tridiagonalOrder {
		gram = room[:k*k]
		worker.near(w, v, a, gram, room[k*k:], k, p)
	}
	nothing := 0x1p-52 * max(1, math.Sqrt(float64(p))/4) // the rounding of products of long rows
	for range maxSweeps {
		still := true
		worker.gram(gram, w, k, p)
		for i := range k {
			for j := i + 1; j < k; j++ {
				if gram != nil && math.Abs(gram[i*k+j]) <= nothing*math.Sqrt(gram[i*(k+1)])*math.Sqrt(gram[j*(k+1)]) {
					continue // unless this pass turns one of them: then the next looks again
				}
				x, z := w[i*p:(i+1)*p], w[j*p:(j+1)*p]
				xx, zz, xz := dot(x, x), dot(z, z), dot(x, z)
				if math.Abs(xz) <= nothing*math.Sqrt(xx)*math.Sqrt(zz) {
					continue
				}
				still = false
				c, s, _ := turning(xx, zz, xz)
				turn(x, z, c, s)
				turn(v[i*k:(i+1)*k], v[j*k:(j+1)*k], c, s)
			}
		}
		if still {
			break
		}
	}
	for i := range k {
		s[i] = norm(w[i*p : (i+1)*p])
	}
	for i := range k {
		first := i
		for j := i + 1; j < k; j++ {
			if s[j] > s[first] {
				first = j
			}
		}
		if first != i {
			s[i], s[first] = s[first], s[i]
			swap(w[i*p:(i+1)*p], w[first*p:(first+1)*p])
			swap(v[i*k:(i+1)*k], v[first*k:(first+1)*k])
		}
		if s[i] > 0 {
			for j := range p {
				w[i*p+j] /= s[i]
			}
		}
		if s[i] < 0x1p-500 { // whose square is too small to be orthogonal by
			complete(w, i, p)
		}
		left, right := w[i*p:(i+1)*p], v[i*k:(i+1)*k]
		if m < n {
			left, right = right, left
		}
		sign := signOf(right)
		for r, x := range left {
			y[r*k+i] = sign * x
		}
		y[m*k+i] = math.Ldexp(s[i], exponent)
		for r, x := range right {
			y[(m+1+r)*k+i] = sign * x
		}
	}
}

// near turns the rows of w by the eigenvectors of w·wᵀ, which are near those that make them orthogonal and
// leave little to Jacobi's method; they become the rows of v. The other arrays are scratch.
func (worker *Worker) near(w, v, old, gram, scratch []float64, k, p int) {
	worker.gram(gram, w, k, p)
	worker.tridiagonal(gram, v, scratch, k)
	copy(old, w)
	clear(w)
	worker.addProduct(matrix64{w, p, 1}, matrix64{v, k, 1}, matrix64{old, p, 1}, 1, k, p, k, false)
}

// gram makes g, if it is not nil, the products of all rows of w.
func (worker *Worker) gram(g, w []float64, k, p int) {
	if g == nil {
		return
	}
	rows := matrix64{w, p, 1}
	clear(g)
	worker.addProduct(matrix64{g, k, 1}, rows, rows.turned(), 1, k, k, p, false)
}

// complete makes row i of w, of p components, a unit vector orthogonal to the rows before it: the part of
// what is there, if that is much, else of a unit vector.
func complete(w []float64, i, p int) {
	x := w[i*p : (i+1)*p]
	for e := -1; e < p; e++ {
		if e >= 0 {
			clear(x)
			x[e] = 1
		}
		for range 2 {
			for j := range i {
				subtract(x, dot(x, w[j*p:(j+1)*p]), w[j*p:(j+1)*p])
			}
		}
		// The squares of these norms sum to p − i over all e, so that one is as large.
		if d := norm(x); 2*d*math.Sqrt(float64(p)) > 1 {
			for j := range x {
				x[j] /= d
			}
			return
		}
	}
}
