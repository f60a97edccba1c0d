package kernel

import (
	"math"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// tridiagonalOrder is the order from which on a symmetric matrix is made tridiagonal first: Jacobi's method
// takes several times as many operations, and is as exact or better.
const tridiagonalOrder = 32

// tridiagonalBlock is how many rows are made tridiagonal before the rest of the matrix is changed.
const tridiagonalBlock = 16

// tridiagonalWork is the size of the scratch of [Worker.tridiagonal].
func tridiagonalWork(n int) int {
	return 2*n + max(2*n*n+2*n, tridiagonalBlock*(n+2), reflectionBlock*(reflectionBlock+n))
}

// tridiagonal leaves the eigenvalues of the symmetric matrix a on its diagonal, and the eigenvectors in the
// rows of v, in any order. Reflections make the matrix tridiagonal; see Golub and Van Loan, Matrix
// computations (4th edition, 2013), §8.3.
func (w *Worker) tridiagonal(a, v, scratch []float64, n int) {
	d, e, scratch := scratch[:n], scratch[n:2*n], scratch[2*n:]
	most := max(n-2, 0)
	for from := 0; from < most; from += tridiagonalBlock {
		w.tridiagonalRows(a, d, e, scratch, n, from, min(from+tridiagonalBlock, most))
	}
	for i := most; i < n; i++ {
		d[i], e[i] = a[i*n+i], 0
	}
	if n > 1 {
		e[n-2] = a[(n-2)*n+n-1]
	}
	clear(v)
	w.conquer(d, e, v, scratch, n, 0, n)
	for i := range n {
		clear(a[i*n : i*n+i+1])
	}
	if n > 2 {
		x, u := matrix64{v, n, 1}, matrix64{a, n, 1}
		for k := (n - 3) / reflectionBlock * reflectionBlock; k >= 0; k -= reflectionBlock {
			w.reflect(x.from(0, k+1), u.from(k, k+1), scratch, n, n-k-1, min(reflectionBlock, n-2-k), true)
		}
	}
	for i := range n {
		a[i*n+i] = d[i]
	}
}

// tridiagonalRows makes rows from to to of the symmetric matrix a tridiagonal, with the diagonal in d and
// the elements beside it in e, and leaves the vectors of the reflections in these rows. A reflection adds
// −u·sᵀ − s·uᵀ to a, of which rows of the block take part at once, and the others together; see Dongarra and
// others, Block reduction of matrices to condensed forms for eigenvalue computations (1989).
func (w *Worker) tridiagonalRows(a, d, e, scratch []float64, n, from, to int) {
	const size = 8
	sums := scratch[:tridiagonalBlock*n]
	us, ss := scratch[tridiagonalBlock*n:][:tridiagonalBlock], scratch[tridiagonalBlock*(n+1):][:tridiagonalBlock]
	times := simd.MatVecOf(level, 8*size)
	for k := from; k < to; k++ {
		done, row := k-from, a[k*n+k:(k+1)*n]
		for l := range done {
			u, s := a[(from+l)*n+k:(from+l+1)*n], sums[l*n+k:(l+1)*n]
			subtract2(row, s[0], u, u[0], s)
		}
		d[k] = row[0]
		u, s := row[1:], sums[done*n+k+1:(done+1)*n]
		e[k] = reflection(u)
		m := len(u)
		times(m, m, first(a[(k+1)*n+k+1:]), n*size, first(u), first(s), size, false)
		if done > 0 {
			times(done, m, first(a[from*n+k+1:]), n*size, first(u), first(us), size, false)
			times(done, m, first(sums[k+1:]), n*size, first(u), first(ss), size, false)
		}
		for l := range done {
			subtract2(s, ss[l], a[(from+l)*n+k+1:(from+l+1)*n], us[l], sums[l*n+k+1:(l+1)*n])
		}
		subtract(s, dot(u, s)/2, u)
	}
	all, u, s := matrix64{a, n, 1}, matrix64{a, n, 1}.from(from, to), matrix64{sums, n, 1}.from(0, to)
	w.addProduct(all.from(to, to), u.turned(), s, -1, n-to, n-to, to-from, false)
	w.addProduct(all.from(to, to), s.turned(), u, -1, n-to, n-to, to-from, false)
}

// subtract2 takes f·y and g·z from x.
func subtract2(x []float64, f float64, y []float64, g float64, z []float64) {
	y, z = y[:len(x)], z[:len(x)]
	for i := range x {
		x[i] -= float64(f*y[i]) + float64(g*z[i])
	}
}

// diagonalise is the implicit QL method for a tridiagonal matrix of diagonal d and elements e beside it,
// with its rotations of the rows of v.
func diagonalise(d, e []float64, v matrix64) {
	n := len(d)
	if n > 0 {
		e[n-1] = 0
	}
	for l := range n {
		for range maxSweeps {
			m := l
			for m < n-1 && math.Abs(e[m]) > 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
				m++
			}
			if m == l {
				break
			}
			g := (d[l+1] - d[l]) / (2 * e[l])
			g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
			s, c, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := s*e[i], c*e[i]
				r := math.Hypot(f, g)
				e[i+1] = r
				if r == 0 {
					d[i+1] -= p
					break
				}
				s, c = f/r, g/r
				g = d[i+1] - p
				r = float64((d[i]-g)*s) + float64(2*c*b)
				p = s * r
				d[i+1] = g + p
				g = float64(c*r) - b
				turn(v.line(i, n), v.line(i+1, n), c, s)
			}
			e[m] = 0
			if i < l {
				d[l] -= p
				e[l] = g
			}
		}
	}
}
