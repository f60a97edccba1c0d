package inspect_test

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestDegenerateMatrixIsNamed: the finding is at the operation that has no result for a matrix, and says
// which matrix of the batch it is and why.
func TestDegenerateMatrixIsNamed(t *testing.T) {
	indefinite := []float64{4, 2, 2, 0.9}
	singular := []float64{1, 2, 2, 4}
	zero := []float64{2, 1, 0, 0}
	for name, c := range map[string]struct {
		f     func(a *graph.Node) *graph.Node
		bad   []float64
		cause string
	}{
		"Cholesky":        {ops.Cholesky, indefinite, "matrix 2 is not positive definite: pivot 1 is −0.1"},
		"Solve":           {ops.Inv, singular, "matrix 2 is singular: pivot 1 is 0"},
		"LogDet":          {ops.LogDet, singular, "matrix 2 is singular: pivot 1 is 0"},
		"SolveTriangular": {func(a *graph.Node) *graph.Node { return ops.SolveTriangular(a, a, ops.Upper) }, zero, "matrix 2 is singular: element 1 of its diagonal is 0"},
		"QR":              {func(a *graph.Node) *graph.Node { return ops.LeastSquares(a, a) }, singular, "the columns of matrix 2 are linearly dependent: column 1 is a sum of multiples of those before it"},
	} {
		g := graph.New(name)
		a := g.Input("A", graph.F64, graph.Ax("b", 3), graph.Ax("i", 2), graph.Ax("j", 2))
		loss := ops.Sum(c.f(a)).As("loss")
		good := []float64{3, 1, 1, 2}
		f := autopsy(t, fed(map[*graph.Node][]float64{a: slices.Concat(good, good, c.bad)}), nil, loss, grad.Of(loss, a)[0])
		if f == nil {
			t.Errorf("%s: nothing is found", name)
			continue
		}
		if got := f.At.Node.Op().Name(); got != name || f.At.Index[0] != 2 || f.Cause != c.cause {
			t.Errorf("%s: found at %v of %s: %s; want matrix 2: %s", name, f.At, got, f.Cause, c.cause)
		}
		if f.Witness[0].Of != 4 {
			t.Errorf("%s: %d elements are to blame, want those of one matrix", name, f.Witness[0].Of)
		}
	}
	g := graph.New("one")
	a := g.Input("A", graph.F32, graph.Dims(2, 2)...)
	f := autopsy(t, fed(map[*graph.Node][]float64{a: indefinite}), nil, ops.Cholesky(a))
	if want := "the matrix is not positive definite: pivot 1 is −0.10000002"; f == nil || f.Cause != want {
		t.Errorf("finding %v, want %s", f, want)
	}
}
