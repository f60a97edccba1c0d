package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
)

// The definition of solutions, by elimination.

// evalSolve eliminates after prepare has seen the copies of each matrix and its right side.
func evalSolve(y *graph.Node, in []graph.Value, prepare func(a, x []float64, n, m int)) graph.Value {
	out := graph.NewValue(y.Type())
	n, m := y.Dim(y.Rank()-2), y.Dim(y.Rank()-1)
	copy(out.Data, in[1].Data)
	for u := range len(out.Data) / (n * m) {
		a := append([]float64(nil), in[0].Data[u*n*n:(u+1)*n*n]...)
		x := out.Data[u*n*m : (u+1)*n*m]
		prepare(a, x, n, m)
		if _, log := reduceRows(a, x, n, m); math.IsInf(log, -1) {
			fillNaN(x)
		}
	}
	return out
}

// reduceRows is the elimination of Gauss and Jordan: it makes a the unit matrix, x the solution, and
// returns the sign of the determinant of a and the logarithm of its magnitude.
func reduceRows(a, x []float64, n, m int) (sign, log float64) {
	sign = 1
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
				p = i
			}
		}
		d := a[p*n+k]
		if d == 0 {
			return 0, math.Inf(-1)
		}
		log += math.Log(math.Abs(d))
		if (d < 0) != (p != k) {
			sign = -sign
		}
		if d != d {
			sign = d
		}
		for j := range n {
			a[k*n+j], a[p*n+j] = a[p*n+j], a[k*n+j]
		}
		for j := range m {
			x[k*m+j], x[p*m+j] = x[p*m+j], x[k*m+j]
		}
		for j := range n {
			a[k*n+j] /= d
		}
		for j := range m {
			x[k*m+j] /= d
		}
		for i := range n {
			f := a[i*n+k]
			if i == k {
				continue
			}
			for j := range n {
				a[i*n+j] -= f * a[k*n+j]
			}
			for j := range m {
				x[i*m+j] -= f * x[k*m+j]
			}
		}
	}
	return sign, log
}
