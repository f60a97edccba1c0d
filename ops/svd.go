package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// svd has the rows of U, the row of singular values, and the rows of V, without names for the last two
// axes.
type svd struct{ eachAlone }

// SVD returns the singular value decomposition A = U·diag(s)·Vᵀ of matrices A[… i j] of floats: U[… i k]
// and V[… j k] with orthonormal columns, and s[… k], not negative and in descending order, where k, the
// smaller number of rows and columns, has no name. Of each column of V the component of largest
// magnitude, the first of equals, is positive. Where an element of a matrix is not finite, all of its
// result is NaN.
//
// Vectors of equal singular values, and those of 0, are any orthonormal ones, and have no derivative: in
// derivatives the coefficients 1/(sj² − si²) and 1/s of such vectors are 0. The gradient of a function
// of the values alone is finite there. Between values that differ by their rounding alone the
// coefficients are very large.
func SVD(a *graph.Node) (u, s, v *graph.Node) {
	defer calling("SVD", a)()
	y := graph.Apply(svd{}, a)
	if !y.IsValid() {
		return y, y, y
	}
	r := a.Rank()
	u, s, v = partsSVD(y, a.Dim(r-2))
	return Rename(u, r-2, a.Shape().Axis(r-2).Name), Squeeze(s, r-2), Rename(v, r-2, a.Shape().Axis(r-1).Name)
}

// SingularValues returns the singular values s[… k] of matrices A[… i j] of floats, in descending order;
// see [SVD].
func SingularValues(a *graph.Node) *graph.Node {
	defer calling("SingularValues", a)()
	_, s, _ := SVD(a)
	return s
}

// partsSVD are the views of a result for matrices of m rows: a matrix, a row, and a matrix.
func partsSVD(y *graph.Node, m int) (u, s, v *graph.Node) {
	list := partsOf(y, partsBelow(y, m))
	return list[0], list[1], list[2]
}

func (svd) Name() string                   { return "SVD" }
func (svd) Kind() match.Kind               { return match.SVD }
func (svd) Doc() string                    { return "left singular vectors, singular values and right singular vectors" }
func (svd) Magnifies() trait.Magnification { return trait.Cancellation }

// Rule returns the name of the rule of its derivative.
func (svd) Rule(_ []bool) (name string, law expr.Expr) {
	return named("singular values and vectors: pairs by the inverse distance of their squares")
}

func (svd) Infer(in []*graph.Node) (graph.Type, error) {
	m, n, err := oneMatrix(in)
	if err != nil {
		return graph.Type{}, err
	}
	return packed(in[0], m+1+n, min(m, n))
}

// Convention says what is taken where vectors have no derivative.
func (svd) Convention() string {
	return "1/(sj² − si²) of equal singular values, and 1/s of those that are 0, are 0 in derivatives: right for functions of the values and of the spaces of the vectors"
}

// Grad is U·(F∘(G − Gᵀ)·S + S·(F∘(H − Hᵀ)) + diag(ds))·Vᵀ with G = Uᵀ·dU, H = Vᵀ·dV and F = 1/(sj² −
// si²), and what dU and dV have outside of the spaces of U and V; see Townsend, Differentiating the
// singular value decomposition (2016).
func (svd) Grad(y, dy *graph.Node, _ int) *graph.Node {
	m := y.In(0).Dim(y.Rank() - 2)
	u, s, v := partsSVD(unnamed(y), m)
	du, ds, dv := partsSVD(unnamed(dy), m)
	f := distances(Square(s))
	skew := func(x, dx *graph.Node) *graph.Node {
		p := MatMul(swapLast(x), dx)
		return Mul(f, Sub(p, swapLast(p)))
	}
	p := timesRow(skew(u, du), s)
	p = Add(p, swapLast(timesRow(swapLast(skew(v, dv)), s)))
	p = Add(p, DiagonalMatrix(Squeeze(ds, ds.Rank()-2)))
	left := MatMul(u, p)
	inverse := reciprocal(s)
	if e := timesRow(outside(u, du), inverse); e != nil {
		left = Add(left, e)
	}
	d := MatMul(left, swapLast(v))
	if e := timesRow(outside(v, dv), inverse); e != nil {
		d = Add(d, MatMul(u, swapLast(e)))
	}
	return likeOperand(d, y.In(0))
}

// JVP is, with P = Uᵀ·dA·V, its diagonal, U·(F∘(P·S + S·Pᵀ)) and V·(F∘(S·P + Pᵀ·S)), and what dA·V and
// dAᵀ·U have outside of the spaces of U and V.
func (svd) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	m := y.In(0).Dim(y.Rank() - 2)
	u, s, v := partsSVD(unnamed(y), m)
	da := unnamed(dx[0])
	av, au := MatMul(da, v), MatMul(swapLast(da), u)
	p := MatMul(swapLast(u), av)
	f := distances(Square(s))
	ps, pts := timesRow(p, s), timesRow(swapLast(p), s)
	inverse := reciprocal(s)
	du := MatMul(u, Mul(f, Add(ps, swapLast(ps))))
	if e := timesRow(outside(u, av), inverse); e != nil {
		du = Add(du, e)
	}
	dv := MatMul(v, Mul(f, Add(swapLast(pts), pts)))
	if e := timesRow(outside(v, au), inverse); e != nil {
		dv = Add(dv, e)
	}
	axis := y.Rank() - 2
	return likeOperand(Concat(axis, du, Expand(Diagonal(p), axis, ""), dv), y)
}

// outside is what x has outside of the space of the orthonormal columns of q, (I − Q·Qᵀ)·x, or nil where
// that is the whole space.
func outside(q, x *graph.Node) *graph.Node {
	if r := q.Rank(); q.Dim(r-2) == q.Dim(r-1) {
		return nil
	}
	return Sub(x, MatMul(q, MatMul(swapLast(q), x)))
}

// timesRow multiplies the columns of x, if any, by the elements of a row.
func timesRow(x, row *graph.Node) *graph.Node {
	if x == nil {
		return nil
	}
	return Mul(x, BroadcastTo(row, x.Shape()))
}

func (svd) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(svd{}, in[0])
}

// Eval reads the decomposition from the eigenvalues ±s and eigenvectors (u, ±v) of the symmetric matrix
// of A and Aᵀ off the diagonal; see Golub and Van Loan, Matrix computations (4th edition, 2013), §8.6.1.
func (svd) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	k := y.Dim(y.Rank() - 1)
	shape := in[0].Type.Shape
	m, n := shape.Axis(shape.Rank()-2).Size, shape.Axis(shape.Rank()-1).Size
	w := m + n
	for c := range len(in[0].Data) / (m * n) {
		a, to := in[0].Data[c*m*n:(c+1)*m*n], out.Data[c*(w+1)*k:(c+1)*(w+1)*k]
		both := make([]float64, w*w)
		for i := range m {
			for j := range n {
				both[i*w+m+j], both[(m+j)*w+i] = a[i*n+j], a[i*n+j]
			}
		}
		pairs := eigenpairs(both, w)
		var us, vs [][]float64
		for r := range k {
			p := pairs[w-1-r]
			u, v := p.vector[:m], p.vector[m:]
			if p.value <= float64(w)*0x1p-52*pairs[w-1].value {
				p.value = max(p.value, 0)
				u, v = anotherUnit(us, m), anotherUnit(vs, n)
			} else {
				u, v = unit(u), unit(v)
			}
			us, vs = append(us, u), append(vs, v)
			sign := leadingSign(v)
			for i := range m {
				to[i*k+r] = sign * u[i]
			}
			to[m*k+r] = p.value
			for j := range n {
				to[(m+1+j)*k+r] = sign * v[j]
			}
		}
	}
	return out
}

// unit is x divided by its norm.
func unit(x []float64) []float64 {
	d := 0.0
	for _, v := range x {
		d = math.Hypot(d, v)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v / d
	}
	return y
}

// anotherUnit is a unit vector of n components that is orthogonal to those of the list.
func anotherUnit(list [][]float64, n int) []float64 {
	var best []float64
	most := -1.0
	for e := range n {
		x := make([]float64, n)
		x[e] = 1
		for range 2 {
			for _, q := range list {
				s := 0.0
				for i := range x {
					s += q[i] * x[i]
				}
				for i := range x {
					x[i] -= s * q[i]
				}
			}
		}
		d := 0.0
		for _, v := range x {
			d = math.Hypot(d, v)
		}
		if d > most {
			best, most = x, d
		}
	}
	return unit(best)
}

// Parts are U, s and V.
func (svd) Parts(y *graph.Node) []trait.PackedPart { return partsBelow(y, y.In(0).Dim(y.Rank()-2)) }

func partsBelow(y *graph.Node, m int) []trait.PackedPart {
	return []trait.PackedPart{{Name: "U", Rows: m}, {Name: "singular values", At: m, Rows: 1}, {Name: "V", At: m + 1, Rows: y.Dim(y.Rank()-2) - m - 1}}
}

func (svd) Kernel(*graph.Node) kernel.Kernel { return kernel.SVD{} }
func (svd) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("svd", whole(y.In(0), in[0]))
}

func (svd) Cases() []Case {
	// Distant singular values: numbers of -2 to 2, and 6, 15, 24 on the diagonal.
	of := func(a string, m, n int) Case {
		return Case{[]Operand{{a, Reals}}, func(in []*graph.Node) *graph.Node {
			return graph.Apply(svd{}, Add(in[0], onDiagonal(in[0], m, n, func(i int) float64 { return 6 + 9*float64(i) })))
		}}
	}
	return []Case{of("float[3 2]", 3, 2), of("float[b=2 i=2 j=3]", 2, 3), of("float[2 2]", 2, 2)}
}
