package ops_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestAxesOfSolutions: a matrix over n × n′ maps the axis n to itself, another the axis of its columns to
// that of its rows.
func TestAxesOfSolutions(t *testing.T) {
	g := graph.New("axes")
	in := func(name string, axes ...graph.Axis) *graph.Node { return g.Input(name, graph.F64, axes...) }
	n, p, e, u, k := graph.Ax("n", 3), graph.Ax("n′", 3), graph.Ax("e", 3), graph.Ax("u", 3), graph.Ax("k", 2)
	square, other, tall := in("K", n, p), in("A", e, u), in("T", graph.Ax("e", 4), u)
	plain, y, z := in("M", graph.Dims(3, 3)...), in("y", n), in("z", e)
	x := in("x", n, k)
	for _, c := range []struct {
		y    *graph.Node
		want string
	}{
		{ops.Solve(square, y), "[n=3]"},
		{ops.Solve(square, in("y′", p)), "[n′=3]"},
		{ops.Solve(square, in("unnamed", graph.Dims(3)...)), "[n=3]"},
		{ops.Solve(ops.Transpose(square), y), "[n=3]"},
		{ops.Solve(square, square), "[n=3 n′=3]"},
		{ops.Solve(other, z), "[u=3]"},
		{ops.Solve(other, in("B", e, u)), "[u=3 u′=3]"},
		{ops.Solve(plain, y), "[3]"},
		{ops.SolveTriangular(ops.Cholesky(square), x), "[n=3 k=2]"},
		{ops.SolveTriangular(ops.Cholesky(square), x, ops.Transposed), "[n=3 k=2]"},
		{ops.LeastSquares(square, x), "[n=3 k=2]"},
		{ops.LeastSquares(tall, in("w", graph.Ax("e", 4))), "[u=3]"},
		{ops.Inv(square), "[n=3 n′=3]"},
		{ops.Inv(ops.Transpose(square)), "[n′=3 n=3]"},
		{ops.Inv(other), "[u=3 e=3]"},
		{ops.Inv(plain), "[3 3]"},
		{ops.MatrixPower(square, -2), "[n=3 n′=3]"},
		{ops.SqDist(x, x), "[n=3 n′=3]"},
	} {
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		if got := c.y.Shape().String(); got != c.want {
			t.Errorf("%v: shape %s, want %s", c.y, got, c.want)
		}
	}
	ops.Solve(square, z)
	const want = `ops/axes_of_solutions_test.go:49: Solve: rows are called "n" and "e": K[n=3 n′=3], z[e=3] (transpose an operand, or rename one axis)`
	if err := g.Err(); err == nil || err.Error() != want {
		t.Errorf("mistake\n%v\nwant\n%s", err, want)
	}
}
