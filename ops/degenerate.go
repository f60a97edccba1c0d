package ops

import (
	"fmt"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// eachAlone is embedded by operations on the matrices in the last two axes of their operands, whose first
// axes are a batch.
type eachAlone struct{}

// Window is the matrix of the same place in the batch.
func (eachAlone) Window(y *graph.Node, i int, index []int) (lo, hi []int, ok bool) {
	hi = y.In(i).Shape().Sizes()
	lo = make([]int, len(hi))
	for a := range len(hi) - 2 {
		lo[a], hi[a] = index[a], index[a]+1
	}
	return lo, hi, true
}

// matrixBehind returns the matrix of the first operand from which element p of y is computed, and what to
// call it: "the matrix", or in a batch "matrix 3".
func matrixBehind(y *graph.Node, in []graph.Value, p int) (a []float64, what string) {
	x := in[0].Type.Shape
	r := x.Rank()
	size := x.Axis(r-2).Size * x.Axis(r-1).Size
	count := x.Len() / size
	u := p / (y.Shape().Len() / count)
	what = "the matrix"
	if r > 2 {
		place := make([]string, r-2)
		for a, k := r-3, u; a >= 0; a-- {
			place[a] = fmt.Sprint(k % x.Axis(a).Size)
			k /= x.Axis(a).Size
		}
		if what = "matrix " + strings.Join(place, ", "); r > 3 {
			what = "matrix (" + strings.Join(place, ", ") + ")"
		}
	}
	return append([]float64(nil), in[0].Data[u*size:(u+1)*size]...), what
}

// degenerate is the fault of a matrix.
func degenerate(format string, args ...any) (trait.Fault, bool) {
	return trait.Fault{Cause: fmt.Sprintf(format, args...), Wrong: trait.Nothing}, true
}

// Degenerate names the first pivot that is not positive, or the smallest if only their rounding made it so.
func (cholesky) Degenerate(y *graph.Node, in []graph.Value, p int) (trait.Fault, bool) {
	a, what := matrixBehind(y, in, p)
	n := y.Dim(y.Rank() - 1)
	k, pivot := lowerFactor(a, make([]float64, n*n), n)
	if pivot > 0 {
		return degenerate("%s is not positive definite to its rounding: pivot %d is %s", what, k, trait.Number(pivot))
	}
	return degenerate("%s is not positive definite: pivot %d is %s", what, k, trait.Number(pivot))
}

// Degenerate names the pivot that is 0.
func (solve) Degenerate(y *graph.Node, in []graph.Value, p int) (trait.Fault, bool) {
	return singular(y, in, p, y.Dim(y.Rank()-2))
}

// Degenerate names the pivot that is 0.
func (logDet) Degenerate(y *graph.Node, in []graph.Value, p int) (trait.Fault, bool) {
	return singular(y, in, p, y.In(0).Dim(y.Rank()))
}

func singular(y *graph.Node, in []graph.Value, p, n int) (f trait.Fault, ok bool) {
	a, what := matrixBehind(y, in, p)
	if k := firstZeroPivot(a, n); k >= 0 {
		return degenerate("%s is singular: pivot %d is 0", what, k)
	}
	return f, false
}

// firstZeroPivot is the number of the pivot at which the elimination of a ends, -1 for none.
func firstZeroPivot(a []float64, n int) int {
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
				p = i
			}
		}
		if a[p*n+k] == 0 {
			return k
		}
		for j := range n {
			a[k*n+j], a[p*n+j] = a[p*n+j], a[k*n+j]
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / a[k*n+k]
			for j := k; j < n; j++ {
				a[i*n+j] -= f * a[k*n+j]
			}
		}
	}
	return -1
}

// Degenerate names the element of the diagonal that is 0.
func (op solveTriangular) Degenerate(y *graph.Node, in []graph.Value, p int) (f trait.Fault, ok bool) {
	a, what := matrixBehind(y, in, p)
	n := y.Dim(y.Rank() - 2)
	for i := range n {
		if a[i*n+i] == 0 && !op.Unit {
			return degenerate("%s is singular: element %d of its diagonal is 0", what, i)
		}
	}
	return f, false
}

// Degenerate names the first column that depends on those before it.
func (qr) Degenerate(y *graph.Node, in []graph.Value, p int) (f trait.Fault, ok bool) {
	a, what := matrixBehind(y, in, p)
	n := y.Dim(y.Rank() - 1)
	m := y.Dim(y.Rank()-2) - n
	if j := triangulate(a, make([]float64, m*(n+m)), make([]float64, (n+m)*n), m, n); j >= 0 {
		return degenerate("the columns of %s are linearly dependent: column %d is a sum of multiples of those before it", what, j)
	}
	return f, false
}
