package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type matrixExp struct{ eachAlone }

// MatrixExp returns eᴬ = I + A + A²/2! + … of square matrices A[… i j] of floats, in the shape of A. Where
// an element of a matrix is not finite, all of its result is NaN. The derivative in a direction E is the
// block above the diagonal of the exponential of [A E; 0 A]; see Mathias, A chain rule for matrix
// functions and applications (1996).
func MatrixExp(a *graph.Node) *graph.Node { return graph.Apply(matrixExp{}, a) }

func (matrixExp) Name() string                   { return "MatrixExp" }
func (matrixExp) Kind() match.Kind               { return match.MatrixExp }
func (matrixExp) Doc() string                    { return "exponential of square matrices" }
func (matrixExp) Magnifies() trait.Magnification { return trait.Cancellation }

// Rule returns the name of the rule of its derivative.
func (matrixExp) Rule(_ []bool) (name string, law expr.Expr) {
	return named("exponential of a matrix: a block of that of a matrix twice as large")
}

func (matrixExp) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	return in[0].Type(), wantSquare(in[0])
}

// direction is the derivative of the exponential of a in the direction e.
func direction(a, e *graph.Node) *graph.Node {
	r, n := a.Rank(), a.Dim(a.Rank()-1)
	above := Concat(r-1, a, e)
	below := Concat(r-1, BroadcastTo(Lit(a, 0), a.Shape()), a)
	y := MatrixExp(Concat(r-2, above, below))
	return Slice(Slice(y, r-2, 0, n), r-1, n, 2*n)
}

// Grad is the derivative of the exponential of Aᵀ in the direction dy.
func (matrixExp) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return likeOperand(direction(swapLast(unnamed(y.In(0))), unnamed(dy)), y.In(0))
}

func (matrixExp) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return likeOperand(direction(unnamed(y.In(0)), unnamed(dx[0])), y)
}

func (matrixExp) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return MatrixExp(in[0])
}

// Eval sums the series at A/2ˢ, with elements below 1/n, and squares it s times.
func (matrixExp) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	n := y.Dim(y.Rank() - 1)
	for first := 0; first < len(out.Data); first += n * n {
		a := append([]float64(nil), in[0].Data[first:first+n*n]...)
		largest := 0.0
		for _, x := range a {
			largest = max(largest, math.Abs(x))
		}
		if math.IsNaN(largest) || math.IsInf(largest, 1) {
			fillNaN(out.Data[first : first+n*n])
			continue
		}
		_, e := math.Frexp(largest)
		_, size := math.Frexp(float64(n))
		s := max(e+size, 0)
		for i, x := range a {
			a[i] = math.Ldexp(x, -s)
		}
		term, sum := make([]float64, n*n), make([]float64, n*n)
		for i := range n {
			term[i*n+i], sum[i*n+i] = 1, 1
		}
		for k := 1; k <= 25; k++ {
			term = squareProduct(term, a, n)
			for i := range term {
				term[i] /= float64(k)
				sum[i] += term[i]
			}
		}
		for range s {
			sum = squareProduct(sum, sum, n)
		}
		copy(out.Data[first:], sum)
	}
	return out
}

// squareProduct is the product of n×n matrices.
func squareProduct(a, b []float64, n int) []float64 {
	y := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				y[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return y
}

func (matrixExp) Kernel(*graph.Node) kernel.Kernel { return kernel.MatrixExp{} }

// Notation is the element of e^A.
func (matrixExp) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return elementOf(y, expr.Sym("e").Pow(whole(y.In(0), in[0])))
}

func (matrixExp) Cases() []Case {
	of := func(a string) Case {
		return Case{[]Operand{{a, Domain{Lo: -1, Hi: 1}}}, func(in []*graph.Node) *graph.Node { return MatrixExp(in[0]) }}
	}
	return []Case{of("float[3 3]"), of("float[b=2 i=2 j=2]"), of("float[1 1]")}
}
