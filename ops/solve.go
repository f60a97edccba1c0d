package ops

import (
	"cmp"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Triangular says how [SolveTriangular] reads its matrix.
type Triangular uint8

// How a triangular matrix is read.
const (
	Upper        Triangular = 1 << iota // the upper triangle, instead of the lower
	Transposed                          // what is read is transposed
	UnitDiagonal                        // the diagonal is taken for ones, and not read
)

type solveTriangular struct {
	eachAlone
	Upper, Unit bool
}

// SolveTriangular returns the solution X[… j k] of A·X = B for triangular matrices A[… i j] and B[… i
// k] of floats. Leading axes are a batch, and broadcast; a B of one axis is a vector, and so is X, whose
// axes are called as by [Solve]. Of A only the lower triangle is read; options take the upper one
// ([Upper]), solve Aᵀ·X = B instead ([Transposed]), or take ones for the diagonal ([UnitDiagonal]).
// Where an element of the diagonal is 0, the whole solution is NaN.
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

type solve struct{ eachAlone }

// Solve returns the solution X[… j k] of A·X = B for square matrices A[… i j] and B[… i k] of floats,
// by elimination with row pivots. Leading axes are a batch, and broadcast; a B of one axis is a vector,
// and so is X. Where a pivot is 0, the matrix is singular, and the whole solution is NaN.
//
// The rows of B are called as those of A, primes aside, unless one of the axes has no name. A matrix
// whose two axes have one name, primes aside, maps an axis to itself, and the rows of X are called as
// those of B; another maps the axis of its columns to that of its rows, and the rows of X are called as
// its columns:
//
//	K[n n′]: Solve(K, y[n]) is [n]    A[e u]: Solve(A, b[e]) is [u]
func Solve(a, b *graph.Node) *graph.Node { return solveWith(solve{}, a, b) }

// Inv returns the inverses of square matrices A[… i j] of floats, of shape [… j i], or of that of A where
// i and j have one name, primes aside. That of a singular matrix is NaN. [Solve] takes less work, and
// loses fewer digits, where the inverse is to be multiplied by something.
func Inv(a *graph.Node) *graph.Node {
	defer calling("Inv", a)()
	if a == nil || !a.IsValid() {
		return graph.Of(a).Fail("Inv", fmt.Errorf("operand is nil"), a)
	}
	if err := wantSquare(a); err != nil {
		return a.Graph().Fail("Inv", err, a)
	}
	r := a.Rank()
	rows, columns := a.Shape().Axis(r-2), a.Shape().Axis(r-1)
	unit := identity(a, rows.Size)
	if maps(rows, columns) {
		return Solve(a, reshapeAxes("Inv", unit, []graph.Axis{rows, columns}))
	}
	y := Solve(a, reshapeAxes("Inv", unit, graph.Primed(rows, rows)))
	if rows.Name == "" || !y.IsValid() {
		return y
	}
	return Rename(y, r-1, rows.Name)
}

// maps reports whether a matrix with such axes maps an axis to itself: they have one name, primes aside.
func maps(rows, columns graph.Axis) bool {
	return rows.Name != "" && unprimed(rows.Name) == unprimed(columns.Name)
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

func (solveTriangular) Name() string     { return "SolveTriangular" }
func (solveTriangular) Kind() match.Kind { return match.SolveTriangular }
func (solve) Name() string               { return "Solve" }
func (solve) Kind() match.Kind           { return match.Solve }
func (solveTriangular) Doc() string      { return "solution of triangular linear equations" }
func (solve) Doc() string                { return "solution of linear equations" }

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
	rows, columns, have := a.Shape().Axis(r-2), a.Shape().Axis(r-1), b.Shape().Axis(r-2)
	if rows.Size != have.Size {
		return graph.Type{}, fmt.Errorf("matrices of %d rows and right sides of %d", rows.Size, have.Size)
	}
	if unprimed(rows.Name) != unprimed(have.Name) && rows.Name != "" && have.Name != "" {
		return graph.Type{}, &graph.Mistake{Problem: fmt.Sprintf("rows are called %q and %q", rows.Name, have.Name), Fix: "transpose an operand, or rename one axis"}
	}
	axes[r-2] = columns
	if maps(rows, columns) {
		axes[r-2].Name = cmp.Or(have.Name, rows.Name)
	}
	s, err := graph.NewShape(graph.Primed(axes...)...)
	return graph.Type{DType: a.DType(), Shape: s}, err
}

// Grad is db = A⁻ᵀ·dy, and da the triangle of −db·yᵀ.
func (op solveTriangular) Grad(y, dy *graph.Node, i int) *graph.Node {
	back := solveTriangular{Upper: !op.Upper, Unit: op.Unit}
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

func (op solveTriangular) Kernel(*graph.Node) kernel.Kernel {
	return kernel.SolveTriangular{Upper: op.Upper, Unit: op.Unit}
}
func (solve) Kernel(*graph.Node) kernel.Kernel { return kernel.Solve{} }

// Notation is A⁻¹·b for a triangular matrix, else tril(A)⁻¹·b or triu(A)⁻¹·b, or for a diagonal of ones (I +
// tril(A, −1))⁻¹·b or (I + triu(A, 1))⁻¹·b.
func (op solveTriangular) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	name, off := "tril", -1.0
	if op.Upper {
		name, off = "triu", 1
	}
	a := whole(y.In(0), in[0])
	switch {
	case op.Unit:
		a = expr.Sym("I").Plus(expr.Call(name, a, expr.Num(off)))
	case !isTriangular(y.In(0), op.Upper):
		a = expr.Call(name, a)
	}
	return notationOfSolve(y, a, in[1])
}

// isTriangular reports whether a matrix is a factor of Cholesky, the R of QR, or the transpose of one.
func isTriangular(a *graph.Node, upper bool) bool {
	turned := false
	for a.NumIn() == 1 {
		switch op := a.Op().(type) {
		case cholesky:
			return upper == turned
		case slice:
			p, _ := trait.PartOf(a)
			return p.Name == "R" && upper != turned
		case transpose:
			r := a.Rank()
			order := op.Order()
			if order[r-1] < r-2 || order[r-2] < r-2 {
				return false
			}
			turned = turned != (order[r-1] == r-2)
		case reshape, broadcast:
			r, from := a.Rank(), a.In(0).Rank()
			if from < 2 || a.Dim(r-1) != a.In(0).Dim(from-1) || a.Dim(r-2) != a.In(0).Dim(from-2) {
				return false
			}
		default:
			return false
		}
		a = a.In(0)
	}
	return false
}

// Notation is A⁻¹·b, and A⁻¹ where b is a unit matrix.
func (solve) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return notationOfSolve(y, whole(y.In(0), in[0]), in[1])
}

func notationOfSolve(y *graph.Node, a, b expr.Expr) expr.Expr {
	if isIdentity(y.In(1)) {
		return elementOf(y, inverse(a))
	}
	return elementOf(y, expr.Product(inverse(a), whole(y.In(1), b)))
}

// isIdentity reports whether x is a constant unit matrix, repeated over a batch.
func isIdentity(x *graph.Node) bool {
	n := x.Dim(x.Rank() - 1)
	for x.NumIn() == 1 && (match.Is(x, match.Reshape) || match.Is(x, match.Broadcast)) {
		x = x.In(0)
	}
	v, ok := x.Constant()
	if !ok || x.Rank() < 2 || len(v.Data) != n*n || x.Dim(x.Rank()-1) != n {
		return false
	}
	for p, e := range v.Data {
		if want := p/n == p%n; want != (e == 1) || !want && e != 0 {
			return false
		}
	}
	return true
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
