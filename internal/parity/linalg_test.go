package parity

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestLinearAlgebra(t *testing.T) {
	cube := func(x *graph.Node) *graph.Node { return ops.Mul(x, ops.Square(x)) }
	compare(t, "linalg", family{
		"Cholesky": func(c *call) []*graph.Node {
			a := c.x("a")
			turned := ops.Transpose(a, order(a.Rank())...)
			return one(ops.Cholesky(ops.MatMul(a, turned)))
		},
		"SolveTriangular": func(c *call) []*graph.Node {
			var how []ops.Triangular
			for _, h := range []struct {
				name string
				flag ops.Triangular
			}{{"upper", ops.Upper}, {"transposed", ops.Transposed}, {"unit", ops.UnitDiagonal}} {
				if c.bool(h.name) {
					how = append(how, h.flag)
				}
			}
			return one(ops.SolveTriangular(c.x("a"), c.x("b"), how...))
		},
		"Solve": func(c *call) []*graph.Node { return one(ops.Solve(c.x("a"), c.x("b"))) },
		"Eigh": func(c *call) []*graph.Node {
			values, vectors := ops.Eigh(c.x("a"))
			return []*graph.Node{values, vectors}
		},
		"SVD": func(c *call) []*graph.Node {
			u, s, v := ops.SVD(c.x("a"))
			return []*graph.Node{u, s, v}
		},
		"SingularValues": func(c *call) []*graph.Node { return one(ops.SingularValues(c.x("a"))) },
		"MatrixExp":      func(c *call) []*graph.Node { return one(ops.MatrixExp(c.x("a"))) },
		"QR": func(c *call) []*graph.Node {
			q, r := ops.QR(c.x("a"))
			return []*graph.Node{q, r}
		},
		"LeastSquares": func(c *call) []*graph.Node { return one(ops.LeastSquares(c.x("a"), c.x("b"))) },
		"Inv":          func(c *call) []*graph.Node { return one(ops.Inv(c.x("a"))) },
		"SlogDet": func(c *call) []*graph.Node {
			sign, log := ops.SlogDet(c.x("a"))
			return []*graph.Node{sign, log}
		},
		"Det":            func(c *call) []*graph.Node { return one(ops.Det(c.x("a"))) },
		"MatrixPower":    func(c *call) []*graph.Node { return one(ops.MatrixPower(c.x("a"), c.int("p"))) },
		"Tril":           func(c *call) []*graph.Node { return one(cube(ops.Tril(c.x("a"), c.int("k")))) },
		"Triu":           func(c *call) []*graph.Node { return one(cube(ops.Triu(c.x("a"), c.int("k")))) },
		"Diagonal":       func(c *call) []*graph.Node { return one(cube(ops.Diagonal(c.x("a")))) },
		"Trace":          func(c *call) []*graph.Node { return one(cube(ops.Trace(c.x("a")))) },
		"DiagonalMatrix": func(c *call) []*graph.Node { return one(ops.DiagonalMatrix(cube(c.x("a")))) },
	})
}

// order exchanges the last two of so many axes.
func order(rank int) []any {
	list := make([]any, rank)
	for i := range list {
		list[i] = i
	}
	list[rank-1], list[rank-2] = list[rank-2], list[rank-1]
	return list
}
