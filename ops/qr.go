package ops

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// qr has the rows of Q above those of R, without names for the last two axes.
type qr struct{ eachAlone }

// QR returns the factors A = Q·R of matrices A[… i j] of floats with at least as many rows as columns:
// Q[… i n] with orthonormal columns and R[… n j] upper triangular, where n, the number of columns, has
// no name. R has a positive diagonal, which makes the factors unique (PyTorch's differ by signs). Where
// the columns of a matrix are linearly dependent, to the rounding of float64, both are NaN. The
// derivative is that of Walter and Lehmann, Algorithmic differentiation of linear algebra functions
// (2018).
func QR(a *graph.Node) (q, r *graph.Node) {
	defer calling("QR", a)()
	y := graph.Apply(qr{}, a)
	if !y.IsValid() {
		return y, y
	}
	rank := a.Rank()
	i, j := a.Shape().Axis(rank-2), a.Shape().Axis(rank-1)
	q, r = partsQR(y)
	return Rename(q, rank-2, i.Name), Rename(r, rank-1, j.Name)
}

// LeastSquares returns the X[… j k] for which ‖A·X − B‖ is least, of matrices A[… i j] of floats with at
// least as many rows as columns and B[… i k], by [QR]. Leading axes are a batch, and broadcast; a B of
// one axis is a vector, and so is X, whose axes are called as by [Solve]. Where the columns of a matrix
// are linearly dependent, to the rounding of float64, no X is the only one, and the result is NaN.
func LeastSquares(a, b *graph.Node) *graph.Node {
	defer calling("LeastSquares", a, b)()
	switch {
	case a == nil || b == nil || !a.IsValid() || !b.IsValid():
		return graph.Of(a, b).Fail("LeastSquares", errNil, a, b)
	case b.Rank() == 0:
		return a.Graph().Fail("LeastSquares", fmt.Errorf("the right side has no axis"), a, b)
	case b.Rank() == 1:
		x := LeastSquares(a, Expand(b, -1, ""))
		if !x.IsValid() {
			return x
		}
		return Squeeze(x, x.Rank()-1)
	}
	q, r := QR(a)
	if !q.IsValid() {
		return q
	}
	right := MatMul(swapLast(q), b)
	if !right.IsValid() {
		return right
	}
	x := SolveTriangular(r, right, Upper)
	rows, columns, have := a.Shape().Axis(a.Rank()-2), a.Shape().Axis(a.Rank()-1), b.Shape().Axis(b.Rank()-2)
	if maps(rows, columns) && rows.Size == columns.Size && x.IsValid() {
		return Rename(x, x.Rank()-2, cmp.Or(have.Name, rows.Name))
	}
	return x
}

// partsQR are the views Q and R of a result.
func partsQR(y *graph.Node) (q, r *graph.Node) {
	list := partsOf(y, qr{}.Parts(y))
	return list[0], list[1]
}

func (qr) Name() string                   { return "QR" }
func (qr) Kind() match.Kind               { return match.QR }
func (qr) Doc() string                    { return "orthonormal columns above a triangle, whose product is the matrix" }
func (qr) Magnifies() trait.Magnification { return trait.Cancellation }

// Rule returns the name of the rule of its derivative.
func (qr) Rule(_ []bool) (name string, law expr.Expr) {
	return named("QR factors: the triangle that leaves the columns orthonormal")
}

func (qr) Infer(in []*graph.Node) (graph.Type, error) {
	m, n, err := oneMatrix(in)
	if err != nil {
		return graph.Type{}, err
	}
	if m < n {
		return graph.Type{}, &graph.Mistake{Problem: fmt.Sprintf("the matrix has %d rows and %d columns: want as many rows at least", m, n), Fix: "transpose it, for factors of the transpose"}
	}
	return packed(in[0], m+n, n)
}

// packed is the type of results of matrices x: matrices whose axes have no names.
func packed(x *graph.Node, rows, cols int) (graph.Type, error) {
	batch := x.Shape().Axes()[:x.Rank()-2]
	s, err := graph.NewShape(append(batch, graph.Dims(rows, cols)...)...)
	return graph.Type{DType: x.DType(), Shape: s}, err
}

// Grad is (dQ + Q·C)·R⁻ᵀ, where C is symmetric and has the lower triangle of R·dRᵀ − dQᵀ·Q.
func (qr) Grad(y, dy *graph.Node, _ int) *graph.Node {
	q, r := partsQR(unnamed(y))
	dq, dr := partsQR(unnamed(dy))
	c := Sub(MatMul(r, swapLast(dr)), MatMul(swapLast(dq), q))
	c = Add(Tril(c), swapLast(Tril(c, -1)))
	d := Add(dq, MatMul(q, c))
	return likeOperand(swapLast(solveWith(solveTriangular{Upper: true}, r, swapLast(d))), y.In(0))
}

// JVP splits Qᵀ·dA·R⁻¹ = Ω + dR·R⁻¹ into Ω = −Ωᵀ, of its lower triangle, and an upper triangle.
func (qr) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	q, r := partsQR(unnamed(y))
	x := swapLast(solveWith(solveTriangular{}, swapLast(r), swapLast(unnamed(dx[0])))) // dA·R⁻¹
	c := MatMul(swapLast(q), x)
	low := Tril(c, -1)
	up := Sub(c, Sub(low, swapLast(low)))
	dq := Sub(x, MatMul(q, up))
	return likeOperand(Concat(y.Rank()-2, dq, MatMul(up, r)), y)
}

func (qr) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(qr{}, in[0])
}

// Eval turns the rows of A and of a unit matrix in pairs until A is triangular.
func (qr) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	n := y.Dim(y.Rank() - 1)
	m := y.Dim(y.Rank()-2) - n
	w := n + m
	rows := make([]float64, m*w)
	for u := range len(in[0].Data) / (m * n) {
		to := out.Data[u*w*n : (u+1)*w*n]
		if triangulate(in[0].Data[u*m*n:(u+1)*m*n], rows, to, m, n) >= 0 {
			fillNaN(to)
		}
	}
	return out
}

// triangulate writes the factors of the m×n matrix a below each other, with rows as scratch. It stops at
// the first column that is linearly dependent on those before it, and returns its number, -1 for none.
func triangulate(a, rows, to []float64, m, n int) (dependent int) {
	w := m + n
	clear(rows)
	for i := range m {
		copy(rows[i*w:], a[i*n:(i+1)*n])
		rows[i*w+n+i] = 1
	}
	for j := range n {
		before := 0.0
		for i := range m {
			before = math.Hypot(before, a[i*n+j])
		}
		p := rows[j*w : (j+1)*w]
		for i := j + 1; i < m; i++ {
			turnRows(p, rows[i*w:(i+1)*w], j)
		}
		if !(math.Abs(p[j]) > before*float64(m)*0x1p-52) || math.IsInf(before, 1) {
			return j
		}
		sign := math.Copysign(1, p[j])
		for k := j; k < n; k++ {
			to[(m+j)*n+k] = sign * p[k]
		}
		for i := range m {
			to[i*n+j] = sign * p[n+i]
		}
	}
	return -1
}

// turnRows rotates two rows so that element j of the second is 0.
func turnRows(p, q []float64, j int) {
	h := math.Hypot(p[j], q[j])
	if h == 0 {
		return
	}
	c, s := p[j]/h, q[j]/h
	for k := range p {
		p[k], q[k] = c*p[k]+s*q[k], c*q[k]-s*p[k]
	}
}

// Parts are Q and R.
func (qr) Parts(y *graph.Node) []trait.PackedPart {
	n := y.Dim(y.Rank() - 1)
	m := y.Dim(y.Rank()-2) - n
	return []trait.PackedPart{{Name: "Q", Rows: m}, {Name: "R", At: m, Rows: n}}
}

func (qr) Kernel(*graph.Node) kernel.Kernel { return kernel.QR{} }
func (qr) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("qr", whole(y.In(0), in[0]))
}

func (qr) Cases() []Case {
	// Columns that are far from dependent: numbers of -2 to 2, and 6 on the diagonal.
	of := func(a string, m, n int) Case {
		return Case{[]Operand{{a, Reals}}, func(in []*graph.Node) *graph.Node {
			return graph.Apply(qr{}, Add(in[0], onDiagonal(in[0], m, n, func(int) float64 { return 6 })))
		}}
	}
	return []Case{of("float[4 3]", 4, 3), of("float[b=2 i=2 j=2]", 2, 2), of("float[3 1]", 3, 1)}
}
