package builders

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Regression holds the quantities of a linear model of observations X[i d] and targets y[i].
type Regression struct {
	X, Target  *graph.Node
	Weights    *graph.Node // w[d]
	Prediction *graph.Node // ŷ[i] = X·w
	Loss       *graph.Node
}

// LeastSquares returns ordinary least squares,
//
//	ŷ = X·w,  loss = ‖ŷ − y‖² = Σ_i (ŷ_i − y_i)²
//
// for floats X[i d], w[d] and y[i]. Gradient descent from w = 0 with a small rate ends at the
// solution of least norm, because every gradient lies in the span of the rows of X.
func LeastSquares(x, w, y *graph.Node) Regression {
	ŷ := timesVector(x, w).As("ŷ")
	return Regression{x, y, w, ŷ, build.SumSquares(ops.Sub(ŷ, y)).As("loss")}
}

// Ridge returns least squares with a penalty on large weights (the notes on regularisation in least
// squares),
//
//	loss = ‖X·w − y‖² + λ‖w‖²
//
// for a scalar λ ≥ 0; see [LeastSquares] for the other operands.
func Ridge(x, w, y, λ *graph.Node) Regression {
	ŷ := timesVector(x, w).As("ŷ")
	penalty := ops.Mul(λ, build.SumSquares(w)).As("penalty")
	return Regression{x, y, w, ŷ, ops.Add(build.SumSquares(ops.Sub(ŷ, y)), penalty).As("loss")}
}

// RidgeObservations returns [Ridge] without a penalty: d fake observations are added to the data,
// each of which asks one weight to be 0,
//
//	X̃ = [X; √λ·I],  ỹ = [y; 0],  loss = ‖X̃·w − ỹ‖²
//
// The loss is that of Ridge for every w.
func RidgeObservations(x, w, y, λ *graph.Node) Regression {
	g := graph.Of(x, w, y, λ)
	if !x.IsValid() || !y.IsValid() || x.Rank() != 2 || y.Rank() != 1 {
		return unfit(g, "RidgeObservations", x, w, y, λ)
	}
	end := g.Scope("fake observations")
	i, d := x.Shape().Axis(0), x.Shape().Axis(1)
	extra := ops.Mul(ops.Sqrt(λ), build.Identity(g, x.DType(), graph.Axis{Name: i.Name, Size: d.Size}, d)).As("√λ·I")
	all := ops.Concat(0, x, extra).As("X̃")
	zeros := g.ConstantFunc(y.DType(), func([]float64) {}, graph.Axis{Name: i.Name, Size: d.Size})
	targets := ops.Concat(0, y, zeros).As("ỹ")
	end()
	ŷ := timesVector(x, w).As("ŷ")
	return Regression{x, y, w, ŷ, build.SumSquares(ops.Sub(timesVector(all, w), targets)).As("loss")}
}

// RidgeFeatures reaches the solution of [Ridge] without asking for small weights: every observation
// gets a feature of its own, with a weight of ξ[i],
//
//	X̌ = [X √λ·I],  η = [w; ξ],  loss = ‖X̌·η − y‖²
//
// The loss can be brought to 0 in many ways. The solution of least norm, where gradient descent
// from η = 0 ends, has the weights w of Ridge. The prediction is X·w, because an observation's own
// feature says nothing about others.
func RidgeFeatures(x, w, ξ, y, λ *graph.Node) Regression {
	g := graph.Of(x, w, ξ, y, λ)
	if !x.IsValid() || x.Rank() != 2 {
		return unfit(g, "RidgeFeatures", x, w, ξ, y, λ)
	}
	end := g.Scope("extra features")
	i, d := x.Shape().Axis(0), x.Shape().Axis(1)
	extra := ops.Mul(ops.Sqrt(λ), build.Identity(g, x.DType(), i, graph.Axis{Name: d.Name, Size: i.Size})).As("√λ·I")
	all := ops.Concat(1, x, extra).As("X̌")
	weights := ops.Concat(0, w, ξ).As("η")
	end()
	ŷ := timesVector(x, w).As("ŷ")
	return Regression{x, y, w, ŷ, build.SumSquares(ops.Sub(timesVector(all, weights), y)).As("loss")}
}

// unfit records that observations and targets have not the shapes wanted.
func unfit(g *graph.Graph, what string, in ...*graph.Node) Regression {
	bad := g.Fail(what, fmt.Errorf("want observations x[i d] and targets y[i]"), in...)
	return Regression{bad, bad, bad, bad, bad}
}

// timesVector returns the product of a matrix m[i d] and a vector v[d]: [i].
func timesVector(m, v *graph.Node) *graph.Node {
	return ops.Squeeze(ops.MatMul(m, ops.Expand(v, -1, "")), -1)
}
