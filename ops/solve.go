package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Triangular says how [SolveTriangular] reads its matrix.
type Triangular uint8

// How a triangular matrix is read.
const (
	Upper        Triangular = 1 << iota // the upper triangle, instead of the lower
	Transposed                          // what is read is transposed
	UnitDiagonal                        // the diagonal is taken for ones, and not read
)

type solveTriangular struct{ Upper, Unit bool }

// SolveTriangular returns the solution X[… j k] of A·X = B for triangular matrices A[… i j] and B[… i
// k] of floats. Leading axes are a batch, and broadcast; a B of one axis is a vector, and so is X. Of A
// only the lower triangle is read; options take the upper one ([Upper]), solve Aᵀ·X = B instead
// ([Transposed]), or take ones for the diagonal ([UnitDiagonal]). Where an element of the diagonal is 0,
// the whole solution is NaN.
func SolveTriangular(a, b *graph.Node, how ...Triangular) *graph.Node {
	var set Triangular
	for _, h := range how {
		set |= h
	}
	op := solveTriangular{Upper: set&Upper != 0, Unit: set&UnitDiagonal != 0}
	if set&Transposed != 0 && a != nil && a.IsValid() && a.Rank() >= 2 {
		a, op.Upper = swapLast(a), !op.Upper
	}
	return solveWith(op, a, b)
}

type solve struct{}

// Solve returns the solution X[… j k] of A·X = B for square matrices A[… i j] and B[… i k] of floats,
// by elimination with row pivots. Leading axes are a batch, and broadcast; a B of one axis is a vector,
// and so is X. Where a pivot is 0, the matrix is singular, and the whole solution is NaN.
func Solve(a, b *graph.Node) *graph.Node { return solveWith(solve{}, a, b) }

// Inv returns the inverses of square matrices A[… i j] of floats, of shape [… j i]. That of a singular
// matrix is NaN. [Solve] takes less work, and loses fewer digits, where the inverse is to be multiplied
// by something.
func Inv(a *graph.Node) *graph.Node {
	defer calling("Inv", a)()
	if a == nil || !a.IsValid() {
		return graph.Of(a).Fail("Inv", fmt.Errorf("operand is nil"), a)
	}
	if err := wantSquare(a); err != nil {
		return a.Graph().Fail("Inv", err, a)
	}
	r := a.Rank()
	y := Solve(a, identity(a, a.Dim(r-1)))
	if name := a.Shape().Axis(r - 2).Name; name != "" && y.IsValid() {
		return Rename(y, r-1, name)
	}
	return y
}

// solveWith repeats both operands over the batch axes that they have in common.
func solveWith(op Op, a, b *graph.Node) *graph.Node {
	g := graph.Of(a, b)
	if a == nil || b == nil || a.Graph() != b.Graph() || !a.IsValid() || !b.IsValid() || b.Rank() < 1 {
		return g.Apply(op, a, b)
	}
	defer calling(op.Name(), a, b)()
	if err := wantSquare(a); err != nil {
		return g.Fail(op.Name(), err, a, b)
	}
	if b.Rank() == 1 {
		x := solveWith(op, a, Expand(b, -1, ""))
		if !x.IsValid() {
			return x
		}
		return Squeeze(x, x.Rank()-1)
	}
	ba, _ := graph.NewShape(a.Shape().Axes()[:a.Rank()-2]...)
	bb, _ := graph.NewShape(b.Shape().Axes()[:b.Rank()-2]...)
	batch, err := graph.Align(ba, bb)
	if err != nil {
		return g.Fail(op.Name(), err, a, b)
	}
	return g.Apply(op, inBatch(a, batch), inBatch(b, batch))
}

func (solveTriangular) Name() string { return "SolveTriangular" }
func (solve) Name() string           { return "Solve" }
func (solveTriangular) Doc() string  { return "solution of triangular linear equations" }
func (solve) Doc() string            { return "solution of linear equations" }

func (solveTriangular) Magnifies() trait.Magnification { return trait.Cancellation }
func (solve) Magnifies() trait.Magnification           { return trait.Cancellation }

// Rule returns the name of the rule of its derivative.
func (solveTriangular) Rule(_ []bool) (name string, law expr.Expr) { return solveRule() }

// Rule returns the name of the rule of its derivative.
func (solve) Rule(_ []bool) (name string, law expr.Expr) { return solveRule() }

func solveRule() (name string, law expr.Expr) {
	return named("linear equations: those of the transposed matrix")
}

func (solveTriangular) Infer(in []*graph.Node) (graph.Type, error) { return inferSolve(in) }
func (solve) Infer(in []*graph.Node) (graph.Type, error)           { return inferSolve(in) }

func inferSolve(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	a, b := in[0], in[1]
	if err := wantFloat(a, b); err != nil {
		return graph.Type{}, err
	}
	if err := wantSquare(a); err != nil {
		return graph.Type{}, err
	}
	r := a.Rank()
	if b.Rank() != r {
		return graph.Type{}, fmt.Errorf("matrices of %d axes and right sides of %d", r, b.Rank())
	}
	axes := b.Shape().Axes()
	for i := range r - 2 {
		m, err := graph.Align(oneAxis(a.Shape().Axis(i)), oneAxis(b.Shape().Axis(i)))
		if err != nil || a.Dim(i) != b.Dim(i) {
			return graph.Type{}, fmt.Errorf("batch axes %v and %v differ", a.Shape().Axis(i), b.Shape().Axis(i))
		}
		axes[i] = m.Axis(0)
	}
	rows, have := a.Shape().Axis(r-2), b.Shape().Axis(r-2)
	if rows.Size != have.Size {
		return graph.Type{}, fmt.Errorf("matrices of %d rows and right sides of %d", rows.Size, have.Size)
	}
	if rows.Name != have.Name && rows.Name != "" && have.Name != "" {
		return graph.Type{}, &graph.Mistake{Problem: fmt.Sprintf("rows are called %q and %q", rows.Name, have.Name), Fix: "transpose an operand, or rename one axis"}
	}
	axes[r-2] = a.Shape().Axis(r - 1)
	s, err := graph.NewShape(primed(axes)...)
	return graph.Type{DType: a.DType(), Shape: s}, err
}

// Grad is db = A⁻ᵀ·dy, and da the triangle of −db·yᵀ.
func (op solveTriangular) Grad(y, dy *graph.Node, i int) *graph.Node {
	back := solveTriangular{!op.Upper, op.Unit}
	return gradSolve(y, dy, i, back, op.part)
}

// Grad is db = A⁻ᵀ·dy and da = −db·yᵀ.
func (op solve) Grad(y, dy *graph.Node, i int) *graph.Node {
	return gradSolve(y, dy, i, op, func(x *graph.Node) *graph.Node { return x })
}

func gradSolve(y, dy *graph.Node, i int, back Op, part func(*graph.Node) *graph.Node) *graph.Node {
	db := solveWith(back, swapLast(unnamed(y.In(0))), unnamed(dy))
	if i == 1 {
		return likeOperand(db, y.In(1))
	}
	return likeOperand(Neg(part(MatMul(db, swapLast(unnamed(y))))), y.In(0))
}

// part is what of a matrix is read.
func (op solveTriangular) part(x *graph.Node) *graph.Node {
	off := 0
	if op.Unit {
		off = 1
	}
	if op.Upper {
		return Triu(x, off)
	}
	return Tril(x, -off)
}

// JVP is A⁻¹·(db − da·y), with the triangle of da.
func (op solveTriangular) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return moveSolve(y, dx, op, op.part)
}

// JVP is A⁻¹·(db − da·y).
func (op solve) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return moveSolve(y, dx, op, func(x *graph.Node) *graph.Node { return x })
}

func moveSolve(y *graph.Node, dx []*graph.Node, op Op, part func(*graph.Node) *graph.Node) *graph.Node {
	var right *graph.Node
	if dx[1] != nil {
		right = unnamed(dx[1])
	}
	if dx[0] != nil {
		right = plus(right, Neg(MatMul(part(unnamed(dx[0])), unnamed(y))))
	}
	if right == nil {
		return nil
	}
	return likeOperand(solveWith(op, unnamed(y.In(0)), right), y)
}

func (op solveTriangular) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return batchSolve(op, y, in, batched, b)
}

func (op solve) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return batchSolve(op, y, in, batched, b)
}

// batchSolve solves for the columns of all examples at once where the matrix is the same for all.
func batchSolve(op Op, y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	if !batched[0] && y.Rank() == 2 {
		x := solveWith(op, unnamed(in[0]), unnamed(beside(in[1], 1)))
		return ReshapeTo(parted(x, 1, b, graph.Axis{Size: y.Dim(1)}), inFront(b, y.Shape()))
	}
	both := repeated(in, batched, b)
	return ReshapeTo(solveWith(op, unnamed(both[0]), unnamed(both[1])), inFront(b, y.Shape()))
}

func (op solveTriangular) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return evalSolve(y, in, func(a, _ []float64, n, _ int) {
		for i := range n {
			for j := range n {
				if i < j && !op.Upper || i > j && op.Upper {
					a[i*n+j] = 0
				}
			}
			if op.Unit {
				a[i*n+i] = 1
			}
		}
	})
}

func (solve) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return evalSolve(y, in, func([]float64, []float64, int, int) {})
}

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

func (op solveTriangular) Kernel(*graph.Node) kernel.Kernel {
	return kernel.SolveTriangular{Upper: op.Upper, Unit: op.Unit}
}
func (solve) Kernel(*graph.Node) kernel.Kernel { return kernel.Solve{} }

// Notation is tril(A)⁻¹·b or triu(A)⁻¹·b, or for a diagonal of ones (I + tril(A, −1))⁻¹·b or (I + triu(A,
// 1))⁻¹·b.
func (op solveTriangular) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	name, off := "tril", -1.0
	if op.Upper {
		name, off = "triu", 1
	}
	a := expr.Call(name, in[0])
	if op.Unit {
		a = expr.Sym("I").Plus(expr.Call(name, in[0], expr.Num(off)))
	}
	return a.Pow(expr.Num(-1)).Times(in[1])
}

// Notation is A⁻¹·b.
func (solve) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return in[0].Pow(expr.Num(-1)).Times(in[1])
}

func (solveTriangular) Cases() []Case {
	var list []Case
	for _, how := range []Triangular{0, Upper, Transposed, Upper | Transposed | UnitDiagonal, UnitDiagonal} {
		list = append(list, solveCases(func(a, b *graph.Node) *graph.Node { return SolveTriangular(a, b, how) })...)
	}
	return list
}

func (solve) Cases() []Case { return solveCases(Solve) }

func solveCases(f func(a, b *graph.Node) *graph.Node) []Case {
	of := func(a, b string) Case {
		return Case{[]Operand{{a, Reals}, {b, Reals}}, func(in []*graph.Node) *graph.Node { return f(Add(in[0], definite(in[0])), in[1]) }}
	}
	return []Case{of("float[3 3]", "float[i=3 k=2]"), of("float[b=2 2 2]", "float[2 1]")}
}
