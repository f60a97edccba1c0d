package tape

import "math"

// orthonormalise makes an orthonormal set of the columns of a row-major matrix, or of its rows if
// there are fewer of them, by Gram and Schmidt: each vector loses its share of those before it and
// is brought to length 1. It does so twice for each, because the remainder may be so small that
// rounding errors point along the others. Independent normal numbers give every such set with the
// same probability density, as the diagonal of R in A = QR is positive.
func orthonormalise(a []float64, columns int) {
	rows := len(a) / columns
	n, size, at := rows, columns, func(v, i int) int { return v*columns + i }
	if columns < rows {
		n, size, at = columns, rows, func(v, i int) int { return i*columns + v }
	}
	q := make([][]float64, n) // the vectors, each in one piece
	for v := range q {
		q[v] = make([]float64, size)
		for i := range q[v] {
			q[v][i] = a[at(v, i)]
		}
		for range 2 {
			for _, u := range q[:v] {
				addScaled(q[v], -inner(q[v], u), u)
			}
		}
		length := math.Sqrt(inner(q[v], q[v]))
		for i := range q[v] {
			q[v][i] /= length
			a[at(v, i)] = q[v][i]
		}
	}
}

// inner and addScaled round each product before they add it, so that a machine
// that could do both at once starts from the same weights.
func inner(x, y []float64) (s float64) {
	for i := range x {
		s += float64(x[i] * y[i])
	}
	return s
}

func addScaled(x []float64, c float64, y []float64) {
	for i := range x {
		x[i] += float64(c * y[i])
	}
}
