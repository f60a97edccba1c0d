package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type cholesky struct{ eachAlone }

// Cholesky returns the lower triangular matrices L with L·Lᵀ = A and a positive diagonal, for symmetric
// positive definite matrices A[… n n] of floats, in the shape of A. As in JAX, A stands for its
// symmetric part ½(A + Aᵀ), and so its derivative is symmetric. Where a matrix is not positive definite,
// all of its result is NaN. The derivative is that of Murray, Differentiation of the Cholesky
// decomposition (2016), §3.
func Cholesky(a *graph.Node) *graph.Node { return graph.Apply(cholesky{}, a) }

func (cholesky) Name() string                   { return "Cholesky" }
func (cholesky) Kind() match.Kind               { return match.Cholesky }
func (cholesky) Doc() string                    { return "lower triangular factor of positive definite matrices" }
func (cholesky) Magnifies() trait.Magnification { return trait.Cancellation }

// Rule returns the name of the rule of its derivative.
func (cholesky) Rule(_ []bool) (name string, law expr.Expr) {
	return named("Cholesky factor: half of the triangle between inverse factors")
}

func (cholesky) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	return in[0].Type(), wantSquare(in[0])
}

// Grad is the symmetric part of L⁻ᵀ·Φ(Lᵀ·dy)·L⁻¹, where Φ takes the lower triangle with half of the
// diagonal.
func (cholesky) Grad(y, dy *graph.Node, _ int) *graph.Node {
	l := unnamed(y)
	lt := swapLast(l)
	p := halfTriangle(MatMul(lt, unnamed(dy)))
	s := solveWith(solveTriangular{Upper: true}, lt, p)                    // L⁻ᵀ·P
	s = swapLast(solveWith(solveTriangular{Upper: true}, lt, swapLast(s))) // (L⁻ᵀ·(L⁻ᵀ·P)ᵀ)ᵀ
	return likeOperand(symmetric(s), y.In(0))
}

// JVP is L·Φ(L⁻¹·dA·L⁻ᵀ), of the symmetric part of dA.
func (cholesky) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	l := unnamed(y)
	s := solveWith(solveTriangular{}, l, symmetric(dx[0]))
	s = solveWith(solveTriangular{}, l, swapLast(s))
	return likeOperand(MatMul(l, halfTriangle(s)), y)
}

// halfTriangle is the lower triangle with half of the diagonal.
func halfTriangle(x *graph.Node) *graph.Node {
	n := x.Dim(x.Rank() - 1)
	w := x.Graph().ConstantFunc(x.DType(), func(v []float64) {
		for i := range n {
			for j := range i {
				v[i*n+j] = 1
			}
			v[i*n+i] = 0.5
		}
	}, graph.Dims(n, n)...)
	return Mul(x, w)
}

func (cholesky) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return Cholesky(in[0])
}

func (cholesky) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	n := y.Dim(y.Rank() - 1)
	for first := 0; first < len(out.Data); first += n * n {
		l := out.Data[first : first+n*n]
		if _, pivot := lowerFactor(in[0].Data[first:first+n*n], l, n); !(pivot > 0) {
			fillNaN(l)
		}
	}
	return out
}

// lowerFactor makes l the factor of a, and returns the number of the smallest pivot and that pivot, or the
// first one that is not positive, where it stops.
func lowerFactor(a, l []float64, n int) (smallest int, pivot float64) {
	pivot = math.Inf(1)
	for j := range n {
		for i := j; i < n; i++ {
			s := (a[i*n+j] + a[j*n+i]) / 2
			for k := range j {
				s -= l[i*n+k] * l[j*n+k]
			}
			switch {
			case i > j:
				l[i*n+j] = s / l[j*n+j]
			case !(s > 0):
				return j, s
			default:
				l[i*n+i] = math.Sqrt(s)
				if s < pivot {
					smallest, pivot = j, s
				}
			}
		}
	}
	return smallest, pivot
}

func fillNaN(v []float64) {
	for i := range v {
		v[i] = math.NaN()
	}
}

func (cholesky) Kernel(*graph.Node) kernel.Kernel { return kernel.Cholesky{} }

// Notation is the element of chol(A).
func (cholesky) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return elementOf(y, expr.Call("chol", whole(y.In(0), in[0])))
}

func (cholesky) Cases() []Case {
	of := func(a string) Case {
		return Case{[]Operand{{a, Reals}}, func(in []*graph.Node) *graph.Node { return Cholesky(Add(in[0], definite(in[0]))) }}
	}
	return []Case{of("float[3 3]"), of("float[b=2 i=2 j=2]"), of("float[1 1]")}
}

// definite is a multiple of the unit matrix that makes the sum with x, of numbers of -2 to 2, positive
// definite, and well conditioned.
func definite(x *graph.Node) *graph.Node {
	n := x.Dim(x.Rank() - 1)
	return Scale(identity(x, n), float64(3*n))
}
