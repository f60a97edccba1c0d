package viz_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestFormulasOfMatrices: functions of whole matrices are written with whole matrices, whose elements are
// taken at the end.
func TestFormulasOfMatrices(t *testing.T) {
	g := graph.New("matrices")
	x := g.Input("x", graph.F64, graph.Ax("n", 4), graph.Ax("d", 2))
	y := g.Input("y", graph.F64, graph.Ax("n", 4))
	a := g.Input("A", graph.F64, graph.Ax("b", 3), graph.Ax("e", 4), graph.Ax("u", 4))
	b := g.Input("B", graph.F64, graph.Ax("b", 3), graph.Ax("e", 4), graph.Ax("k", 2))
	c := g.Input("c", graph.F64, graph.Ax("e", 4))
	plain := g.Input("M", graph.F64, graph.Dims(4, 4)...)
	k := ops.MatMul(x, ops.Transpose(x)).As("K")
	l := ops.Cholesky(k).As("L")
	q, r := ops.QR(a)
	values, vectors := ops.Eigh(k)
	u, s, v := ops.SVD(a)
	named := func(n *graph.Node) *graph.Node { return ops.Scale(n, 2) } // a formula of the operand
	for _, c := range []struct {
		n          *graph.Node
		shape, has string
	}{
		{ops.Solve(k, y), "[n=4]", "(K⁻¹·y)ₙ"},
		{ops.Solve(ops.Transpose(k), y), "[n=4]", "((Kᵀ)⁻¹·y)ₙ"},
		{ops.Solve(k, ops.Solve(k, y)), "[n=4]", "(K⁻¹·K⁻¹·y)ₙ"},
		{ops.Solve(named(k), y), "[n=4]", "([2·K_{l,n′}]_{l,n′}⁻¹·y)ₙ"},
		{ops.Solve(k, x), "[n=4 d=2]", "(K⁻¹·x)_{nd}"},
		{ops.Solve(a, b), "[b=3 u=4 k=2]", "(A_b⁻¹·B_b)ᵤₖ"},
		{ops.Solve(a, c), "[b=3 u=4]", "(A_b⁻¹·c)ᵤ"},
		{ops.Solve(plain, c), "[4]", "M⁻¹·c"},
		{ops.SolveTriangular(l, y), "[n=4]", "(L⁻¹·y)ₙ"},
		{ops.SolveTriangular(l, y, ops.Transposed), "[n=4]", "((Lᵀ)⁻¹·y)ₙ"},
		{ops.SolveTriangular(l, y, ops.Upper), "[n=4]", "(triu(L)⁻¹·y)ₙ"},
		{ops.SolveTriangular(k, y, ops.UnitDiagonal), "[n=4]", "((I + tril(K, −1))⁻¹·y)ₙ"},
		{ops.LeastSquares(a, c), "[b=3 u=4]", "(triu(R(A_b))⁻¹·Q(A_b)ᵀ·c)ᵤ"},
		{ops.LeastSquares(k, y), "[n=4]", "(triu(R(K))⁻¹·Q(K)ᵀ·y)ₙ"},
		{ops.Solve(ops.MatMul(l, ops.Transpose(l)), y), "[n=4]", "((L·Lᵀ)⁻¹·y)ₙ"},
		{ops.Solve(k, ops.MatMul(k, y)), "[n=4]", "(K⁻¹·K·y)ₙ"},
		{ops.LogDet(ops.MatMul(l, ops.Transpose(l))), "[]", "log|L·Lᵀ|"},
		{ops.Tril(k), "[n=4 n′=4]", "[n′ ≤ n]·K_{n,n′}"},
		{ops.Triu(k, 1), "[n=4 n′=4]", "[n′ ≥ n + 1]·K_{n,n′}"},
		{ops.Tril(k, -2), "[n=4 n′=4]", "[n′ ≤ n − 2]·K_{n,n′}"},
		{ops.Inv(k), "[n=4 n′=4]", "(K⁻¹)_{n,n′}"},
		{ops.Inv(a), "[b=3 u=4 e=4]", "(A_b⁻¹)ᵤₑ"},
		{ops.Add(ops.Inv(k), k), "[n=4 n′=4]", "(K⁻¹)_{n,n′} + K_{n,n′}"},
		{ops.MatrixPower(k, -1), "[n=4 n′=4]", "(K⁻¹)_{n,n′}"},
		{ops.MatrixExp(a), "[b=3 e=4 u=4]", "(e^(A_b))ₑᵤ"},
		{l, "[n=4 n′=4]", "chol(K)_{n,n′}"},
		{ops.MatMul(l, ops.Transpose(l)), "[n=4 n′=4]", "Σ_{n′′} L_{n,n′′}·L_{n′,n′′}"},
		{ops.LogDet(k), "[]", "log|K|"},
		{ops.LogDet(a), "[b=3]", "log|A_b|"},
		{ops.Det(k), "[]", "sign(det(K))·e^(log|K|)"},
		{q, "[b=3 e=4 4]", "Q(A_b)ₑ"},
		{r, "[b=3 4 u=4]", "R(A_b)ᵤ"},
		{values, "[4]", "eigenvalues(K)"},
		{vectors, "[n=4 4]", "eigenvectors(K)ₙ"},
		{u, "[b=3 e=4 4]", "U(A_b)ₑ"},
		{s, "[b=3 4]", "singular values(A_b)"},
		{v, "[b=3 u=4 4]", "V(A_b)ᵤ"},
		{ops.Diagonal(k), "[n=4]", "Kₙₙ"},
		{ops.Trace(k), "[]", "Σₙ Kₙₙ"},
	} {
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		if got := c.n.Shape().String(); got != c.shape {
			t.Errorf("%s: shape %s, want %s", c.has, got, c.shape)
		}
		if got := viz.Unicode(viz.Expr(c.n)); got != c.has {
			t.Errorf("formula\n%s\nwant\n%s", got, c.has)
		}
	}
}

// TestMatricesInOtherScripts: the same signs in LaTeX and MathML.
func TestMatricesInOtherScripts(t *testing.T) {
	g := graph.New("scripts")
	k := g.Input("K", graph.F64, graph.Ax("i", 3), graph.Ax("j", 3))
	y := g.Input("y", graph.F64, graph.Ax("i", 3))
	x := ops.Solve(ops.Scale(k, 2), y).As("x")
	for _, c := range []struct{ got, want string }{
		{viz.LaTeX(x), `x_{j} = {\left({{[2 \, K_{il}]}_{il}}^{-1} \, y\right)}_{j}`},
		{viz.LaTeX(ops.LogDet(k).As("h")), `h = \log \left|K\right|`},
		{viz.EquationOf(ops.LogDet(k)).MathML(), "<math display=\"block\"><mi>h</mi><mo>=</mo><mrow><mi>log</mi><mo>|</mo><mi>K</mi><mo>|</mo></mrow></math>"},
		{viz.MathML(viz.Expr(ops.Inv(k))), "<math><msub><mrow><mrow><mo>(</mo><msup><mrow><mi>K</mi></mrow><mrow><mi>−1</mi></mrow></msup><mo>)</mo></mrow></mrow><mrow><mi>j</mi><mi>i</mi></mrow></msub></math>"},
	} {
		if c.got != c.want {
			t.Errorf("got\n%s\nwant\n%s", c.got, c.want)
		}
	}
}
