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

// Flops counts 12n³ for each of eight sweeps of a matrix.
func (Eigh) Flops(_ Layout, in []Layout) int64 {
	n := int64(in[0].Dims[in[0].Rank-1])
	return 96 * n * n * int64(in[0].Len()) / 2
}

// Flops counts 6 for each element and pair, of each of eight sweeps of a matrix.
func (SVD) Flops(_ Layout, in []Layout) int64 {
	m, n := in[0].Dims[in[0].Rank-2], in[0].Dims[in[0].Rank-1]
	return 48 * int64(min(m, n)) * int64(in[0].Len())
}

// Bind takes one operand, of floats.
func (k Eigh) Bind(out Layout, in []Layout) Bound {
	n := in[0].Dims[in[0].Rank-1]
	return bindMatrix(k, out, in[0], n*n, func(a, y, v []float64) { eigh(a, y, v, n) })
}

// Bind takes one operand, of floats.
func (k SVD) Bind(out Layout, in []Layout) Bound {
	m, n := in[0].Dims[in[0].Rank-2], in[0].Dims[in[0].Rank-1]
	return bindMatrix(k, out, in[0], m*n+min(m, n)*(min(m, n)+1), func(a, y, scratch []float64) { svd(a, y, scratch, m, n) })
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v - v) })
}

// eigh is Jacobi's method with the pairs in their order; see Golub and Van Loan, Matrix computations
// (4th edition, 2013), §8.5. The eigenvectors are rows of v.
func eigh(a, y, v []float64, n int) {
	if !finite(a) {
		undefine(y)
		return
	}
	clear(v)
	for i := range n {
		v[i*n+i] = 1
		for j := range i {
			s := a[i*n+j]/2 + a[j*n+i]/2
			a[i*n+j], a[j*n+i] = s, s
		}
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
		y[j] = a[j*n+j]
		sign := signOf(v[j*n : (j+1)*n])
		for i := range n {
			y[(1+i)*n+j] = sign * v[j*n+i]
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
// Veselić, Jacobi's method is more accurate than QR (1992).
func svd(a, y, scratch []float64, m, n int) {
	if !finite(a) {
		undefine(y)
		return
	}
	k, p := min(m, n), max(m, n)
	w, v, s := scratch[:k*p], scratch[k*p:k*p+k*k], scratch[k*p+k*k:]
	if m >= n {
		transposeTo(w, a, m, n)
	} else {
		copy(w, a)
	}
	clear(v)
	for i := range k {
		v[i*k+i] = 1
	}
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	// A power of two near the largest element keeps squares from overflowing and loses nothing.
	_, exponent := math.Frexp(largest)
	for i, x := range w {
		w[i] = math.Ldexp(x, -exponent)
	}
	for range maxSweeps {
		still := true
		for i := range k {
			for j := i + 1; j < k; j++ {
				x, z := w[i*p:(i+1)*p], w[j*p:(j+1)*p]
				xx, zz, xz := dot(x, x), dot(z, z), dot(x, z)
				if math.Abs(xz) <= 0x1p-52*math.Sqrt(xx)*math.Sqrt(zz) {
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
		} else {
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

// complete makes row i of w, of p components, a unit vector orthogonal to the rows before it.
func complete(w []float64, i, p int) {
	x := w[i*p : (i+1)*p]
	for e := range p {
		clear(x)
		x[e] = 1
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
