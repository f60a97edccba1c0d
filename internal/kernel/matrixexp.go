package kernel

import "math"

// MatrixExp is eᴬ of the square matrices in the last two axes. Where an element is not finite, all is NaN.
type MatrixExp struct{ apart }

// Flops counts six products, a solution and four squarings for each matrix.
func (MatrixExp) Flops(out Layout, _ []Layout) int64 {
	return 24 * int64(out.Len()) * int64(out.Dims[out.Rank-1])
}

// Bind takes one operand, of floats.
func (k MatrixExp) Bind(out Layout, in []Layout) Bound {
	n := in[0].Dims[in[0].Rank-1]
	return bindMatrix(k, out, in[0], func(w *Worker, a, y, scratch []float64) { w.matrixExp(a, y, scratch, n) })
}

// Work is a matrix, its result and five more.
func (MatrixExp) Work(out Layout, in []Layout) int { return matrixWork(out, in[0], 5*matrixLen(in[0])) }

// pade are the coefficients of the numerator of the approximant of eˣ of order 13.
var pade = [14]float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
	10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}

// matrixExp is the approximant at A/2ˢ, whose 1-norm is below 5.37, squared s times; see Higham, The
// scaling and squaring method for the matrix exponential revisited (2005), algorithm 2.3.
func (w *Worker) matrixExp(a, y, scratch []float64, n int) {
	if !finite(a) {
		undefine(y)
		return
	}
	size := 0.0
	for j := range n {
		s := 0.0
		for i := range n {
			s += math.Abs(a[i*n+j])
		}
		size = max(size, s)
	}
	squarings := 0
	if f, e := math.Frexp(size / 5.371920351148152); f > 0 && e > 0 {
		squarings = e
		if math.IsInf(size, 1) {
			squarings = 1100
		}
	}
	for i, x := range a {
		a[i] = math.Ldexp(x, -squarings)
	}
	nn := n * n
	a2, a4, a6, u, v := scratch[:nn], scratch[nn:2*nn], scratch[2*nn:3*nn], scratch[3*nn:4*nn], scratch[4*nn:]
	w.multiply(a2, a, a, n)
	w.multiply(a4, a2, a2, n)
	w.multiply(a6, a4, a2, n)
	// The polynomial of odd powers is A·u, that of even powers v.
	for first, to := range [2][]float64{v, u} {
		c := pade[first:]
		for i := range to {
			y[i] = float64(c[8]*a2[i]) + float64(c[10]*a4[i]) + float64(c[12]*a6[i])
		}
		w.multiply(to, a6, y, n)
		for i := range to {
			to[i] += float64(c[2]*a2[i]) + float64(c[4]*a4[i]) + float64(c[6]*a6[i])
		}
		for i := range n {
			to[i*n+i] += c[0]
		}
	}
	w.multiply(a2, a, u, n)
	for i := range v {
		y[i] = v[i] + a2[i]
		v[i] -= a2[i]
	}
	w.eliminate(v, y, n, n)
	w.solveTriangle(v, y, n, n, true, false)
	for range squarings {
		copy(u, y)
		w.multiply(y, u, u, n)
	}
}

// multiply writes the product a·b of n×n matrices to y.
func (w *Worker) multiply(y, a, b []float64, n int) {
	clear(y)
	if n >= blockedOrder {
		w.addProduct(matrix64{y, n, 1}, matrix64{a, n, 1}, matrix64{b, n, 1}, 1, n, n, n, false)
		return
	}
	for i := range n {
		row := y[i*n : (i+1)*n]
		for k := range n {
			subtract(row, -a[i*n+k], b[k*n:(k+1)*n])
		}
	}
}
