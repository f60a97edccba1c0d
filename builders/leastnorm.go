package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// inversions is the number of steps of Newton's iteration: after k of them an eigenvalue of 2⁻ᵏ of
// the trace is inverted to about a digit, and each further step doubles the digits.
const inversions = 40

// LeastNorm returns the solution that gradient descent from zero ends at, without descending:
//
//	w⁺ = Xᵀ(XXᵀ + λI)⁻¹y
//
// for floats X[i d], y[i] and a scalar λ ≥ 0. For λ = 0 it is the pseudo-inverse of X times y: of
// all w with X·w = y the one of least norm, where the rows of X are independent. For λ > 0 it is
// the solution of [Ridge]. The inverse of A = XXᵀ + λI is the limit of Z ← Z(2I − AZ) from I/tr A
// (Schulz, 1933).
func LeastNorm(x, y, λ *graph.Node) *graph.Node {
	g := graph.Of(x, y, λ)
	if !x.IsValid() || !y.IsValid() || !λ.IsValid() || x.Rank() != 2 || y.Rank() != 1 {
		return unfit(g, "LeastNorm", x, y, λ).Weights
	}
	defer g.Scope("pseudo-inverse")()
	i := x.Shape().Axis(0)
	I := build.Identity(g, x.DType(), i, graph.Axis{Size: i.Size})
	A := ops.Add(ops.MatMul(x, ops.Rename(ops.Transpose(x), 1, "")), ops.Mul(λ, I)).As("A")
	start := ops.Div(I, ops.Sum(ops.Mul(A, I)))
	Z := ops.Scan(ops.Loop{Carry: []*graph.Node{start}, Steps: inversions}, func(carry, _, _ []*graph.Node) (next, out []*graph.Node) {
		Z := carry[0]
		return []*graph.Node{ops.MatMul(Z, ops.Sub(ops.Scale(I, 2), ops.MatMul(A, Z))).As("Z")}, nil
	}).Final[0]
	return timesVector(ops.Transpose(x), timesVector(Z, y)).As("w⁺")
}
