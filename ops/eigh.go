package ops

import (
	"cmp"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// eigh has the row of values above the rows of the matrix of vectors, without names for the last two
// axes.
type eigh struct{ eachAlone }

// Eigh returns the eigenvalues λ[… n], in ascending order, and the eigenvectors V[… i n], the columns of
// an orthogonal matrix, of symmetric matrices A[… i j] of floats, so that A·V = V·diag(λ). A stands for
// its symmetric part ½(A + Aᵀ), and so its derivative is symmetric. Of each vector the component of
// largest magnitude, the first of equals, is positive. Where an element of a matrix is not finite, all
// of its result is NaN.
//
// Vectors of equal eigenvalues are any orthonormal basis of their space, and have no derivative: in
// derivatives the coefficient 1/(λj − λi) of such a pair is 0. The gradient of a function of the values
// alone is finite there, and right where the function is symmetric in the equal values, as a sum over
// all of them is. Between values that differ by their rounding alone the coefficient is very large.
func Eigh(a *graph.Node) (values, vectors *graph.Node) {
	defer calling("Eigh", a)()
	y := graph.Apply(eigh{}, a)
	if !y.IsValid() {
		return y, y
	}
	r := a.Rank()
	values, vectors = partsEigh(y)
	return Squeeze(values, r-2), Rename(vectors, r-2, a.Shape().Axis(r-2).Name)
}

// partsEigh are the views of a result: a row and a matrix.
func partsEigh(y *graph.Node) (values, vectors *graph.Node) {
	list := partsOf(y, eigh{}.Parts(y))
	return list[0], list[1]
}

func (eigh) Name() string                   { return "Eigh" }
func (eigh) Kind() match.Kind               { return match.Eigh }
func (eigh) Doc() string                    { return "eigenvalues above eigenvectors of symmetric matrices" }
func (eigh) Magnifies() trait.Magnification { return trait.Cancellation }

// Rule returns the name of the rule of its derivative.
func (eigh) Rule(_ []bool) (name string, law expr.Expr) {
	return named("eigenvalues and eigenvectors: pairs by the inverse of their distance")
}

func (eigh) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if err := wantSquare(in[0]); err != nil {
		return graph.Type{}, err
	}
	n := in[0].Dim(in[0].Rank() - 1)
	return packed(in[0], n+1, n)
}

// distances is the matrix of 1/(xj − xi) of a row x, with 0 where they are equal.
func distances(x *graph.Node) *graph.Node {
	n := x.Dim(x.Rank() - 1)
	to, _ := graph.NewShape(graph.Dims(append(x.Shape().Sizes()[:x.Rank()-2], n, n)...)...)
	return reciprocal(Sub(BroadcastTo(x, to), BroadcastTo(swapLast(x), to)))
}

// reciprocal is 1/x, and 0 where x is 0.
func reciprocal(x *graph.Node) *graph.Node {
	zero, unit := BroadcastTo(Lit(x, 0), x.Shape()), BroadcastTo(Lit(x, 1), x.Shape())
	none := Equal(x, zero)
	return Select(none, zero, Div(unit, Select(none, unit, x)))
}

// Convention says what is taken where vectors have no derivative.
func (eigh) Convention() string {
	return "1/(λj − λi) of equal eigenvalues is 0 in derivatives: right for functions of the values and of the spaces of the vectors"
}

// Grad is the symmetric part of V·(diag(dλ) + F∘(Vᵀ·dV))·Vᵀ, where F is 1/(λj − λi); see Giles, An
// extended collection of matrix derivative results (2008), §3.1.
func (eigh) Grad(y, dy *graph.Node, _ int) *graph.Node {
	values, v := partsEigh(unnamed(y))
	dvalues, dv := partsEigh(unnamed(dy))
	p := Mul(distances(values), MatMul(swapLast(v), dv))
	p = Add(p, DiagonalMatrix(Squeeze(dvalues, dvalues.Rank()-2)))
	return likeOperand(symmetric(MatMul(MatMul(v, p), swapLast(v))), y.In(0))
}

// JVP is the diagonal of P = Vᵀ·dA·V, of the symmetric part of dA, and V·(F∘P).
func (eigh) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	values, v := partsEigh(unnamed(y))
	p := MatMul(MatMul(swapLast(v), symmetric(dx[0])), v)
	dv := MatMul(v, Mul(distances(values), p))
	axis := y.Rank() - 2
	return likeOperand(Concat(axis, Expand(Diagonal(p), axis, ""), dv), y)
}

func (eigh) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(eigh{}, in[0])
}

func (eigh) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	n := y.Dim(y.Rank() - 1)
	for u := range len(in[0].Data) / (n * n) {
		a, to := in[0].Data[u*n*n:(u+1)*n*n], out.Data[u*(n+1)*n:(u+1)*(n+1)*n]
		s := make([]float64, n*n)
		for i := range n {
			for j := range n {
				s[i*n+j] = (a[i*n+j] + a[j*n+i]) / 2
			}
		}
		for j, p := range eigenpairs(s, n) {
			to[j] = p.value
			sign := leadingSign(p.vector)
			for i, x := range p.vector {
				to[(1+i)*n+j] = sign * x
			}
		}
	}
	return out
}

type eigenpair struct {
	value  float64
	vector []float64
}

// eigenpairs is Jacobi's first method: it turns the pair with the largest element off the diagonal of
// the symmetric matrix a. The pairs are in ascending order of the values.
func eigenpairs(a []float64, n int) []eigenpair {
	pairs := make([]eigenpair, n)
	for i := range pairs {
		pairs[i].vector = make([]float64, n)
		pairs[i].vector[i] = 1
	}
	for _, x := range a {
		if math.IsNaN(x - x) {
			for i := range pairs {
				pairs[i].value = math.NaN()
				fillNaN(pairs[i].vector)
			}
			return pairs
		}
	}
	for range 60 * n * n {
		p, q := 0, 0
		for i := range n {
			for j := range i {
				if p == q || math.Abs(a[i*n+j]) > math.Abs(a[q*n+p]) {
					p, q = j, i
				}
			}
		}
		if p == q || a[q*n+p] == 0 {
			break
		}
		angle := math.Atan2(2*a[q*n+p], a[q*n+q]-a[p*n+p]) / 2
		if angle > math.Pi/4 {
			angle -= math.Pi / 2
		}
		if angle < -math.Pi/4 {
			angle += math.Pi / 2
		}
		sin, cos := math.Sincos(angle)
		for k := range n {
			x, z := a[p*n+k], a[q*n+k]
			a[p*n+k], a[q*n+k] = cos*x-sin*z, sin*x+cos*z
			x, z = pairs[p].vector[k], pairs[q].vector[k]
			pairs[p].vector[k], pairs[q].vector[k] = cos*x-sin*z, sin*x+cos*z
		}
		for k := range n {
			x, z := a[k*n+p], a[k*n+q]
			a[k*n+p], a[k*n+q] = cos*x-sin*z, sin*x+cos*z
		}
		a[p*n+q], a[q*n+p] = 0, 0
	}
	for i := range pairs {
		pairs[i].value = a[i*n+i]
	}
	slices.SortStableFunc(pairs, func(x, z eigenpair) int { return cmp.Compare(x.value, z.value) })
	return pairs
}

// leadingSign is the sign of the component of largest magnitude, the first of equals.
func leadingSign(x []float64) float64 {
	best := 0.0
	for _, v := range x {
		if math.Abs(v) > math.Abs(best) {
			best = v
		}
	}
	return math.Copysign(1, best)
}

// Parts are the eigenvalues and the eigenvectors.
func (eigh) Parts(y *graph.Node) []trait.PackedPart {
	return []trait.PackedPart{{Name: "eigenvalues", Rows: 1}, {Name: "eigenvectors", At: 1, Rows: y.Dim(y.Rank() - 1)}}
}

func (eigh) Kernel(*graph.Node) kernel.Kernel { return kernel.Eigh{} }
func (eigh) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("eigh", whole(y.In(0), in[0]))
}

func (eigh) Cases() []Case {
	// Distant eigenvalues: numbers of -2 to 2, and 0, 9, 18 on the diagonal.
	of := func(a string, n int) Case {
		return Case{[]Operand{{a, Reals}}, func(in []*graph.Node) *graph.Node {
			return graph.Apply(eigh{}, Add(in[0], onDiagonal(in[0], n, n, func(i int) float64 { return 9 * float64(i) })))
		}}
	}
	return []Case{of("float[3 3]", 3), of("float[b=2 i=2 j=2]", 2), of("float[1 1]", 1)}
}
