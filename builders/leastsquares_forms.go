package builders

import (
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// WeightedLeastSquares weighs each observation by its standard deviation σ[i]: it divides the data
// by it (the notes on standardisation, where more certain observations weigh more),
//
//	X̃ = X/σ,  ỹ = y/σ,  loss = ‖X̃·w − ỹ‖² = Σ_i ((x_i·w − y_i)/σ_i)²
//
// An observation with half the variance counts as much as two. See [LeastSquares] for the other
// operands.
func WeightedLeastSquares(x, w, y, σ *graph.Node) Regression {
	end := graph.Of(x, w, y, σ).Scope("standardised")
	all, target := ops.Div(x, ops.Expand(σ, -1, "")).As("X̃"), ops.Div(y, σ).As("ỹ")
	end()
	ŷ := timesVector(x, w).As("ŷ")
	return Regression{x, y, w, ŷ, build.SumSquares(ops.Sub(timesVector(all, w), target)).As("loss")}
}

// Lasso returns least squares with a penalty that brings weights to 0 (Tibshirani, 1996; the notes
// name sparsity as an aim of penalties),
//
//	loss = ‖X·w − y‖² + λ·Σ_j |w_j|
//
// for a scalar λ ≥ 0. Unlike that of [Ridge], its pull does not weaken as a weight gets small, so
// weights that help little go to 0 and stay there. See [LeastSquares] for the other operands.
func Lasso(x, w, y, λ *graph.Node) Regression {
	ŷ := timesVector(x, w).As("ŷ")
	penalty := ops.Mul(λ, ops.Sum(ops.Abs(w))).As("penalty")
	return Regression{x, y, w, ŷ, ops.Add(build.SumSquares(ops.Sub(ŷ, y)), penalty).As("loss")}
}

var weightedSquares = Builder{
	Name:            "regression-weighted",
	Title:           "least squares weighted by confidence",
	Notes:           "standardisation: points of which we are sure count more",
	Formula:         "X̃ᵢ = Xᵢ/σᵢ, ỹᵢ = yᵢ/σᵢ;  loss = ‖X̃·w − ỹ‖²",
	Hyperparameters: []Hyperparameter{sizeObservations, sizeD},
	make: func(s Settings, dt graph.DType, m *Model) {
		x, w, y := linear(m, s, dt)
		σ := m.Graph.Input("σ", dt, y.Shape().Axes()...)
		m.regress(WeightedLeastSquares(x, w, y, σ))
		task := m.Examples
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := task(rng)
			f[σ] = build.Computed(σ.Type(), func(int) float64 { return math.Exp2(2*rng.Float64() - 1) }) // between ½ and 2
			for i, spread := range f[σ].Data {
				f[y].Data[i] = dt.Round(f[y].Data[i] + 0.1*spread*rng.NormFloat64())
			}
			return f
		}
	},
}

var lasso = Builder{
	Name:            "regression-lasso",
	Title:           "least squares with few weights",
	Notes:           "gradient descent and regularisation: a penalty that asks for sparsity",
	Formula:         "ŷ = X·w;  loss = ‖ŷ − y‖² + λ·Σⱼ |wⱼ|",
	Hyperparameters: []Hyperparameter{sizeObservations, sizeD, sizeLambda},
	make:            penalised(func(_ *Model, x, w, y, λ *graph.Node) Regression { return Lasso(x, w, y, λ) }),
}
