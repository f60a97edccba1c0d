package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// KMeans holds the quantities of a clustering objective over points x[i d] and centres r[j d], nil
// where an objective does not have them.
type KMeans struct {
	Points   *graph.Node // x[i d]
	Centres  *graph.Node // r[j d]: the parameter or state that is learnt
	Gamma    *graph.Node // the temperature γ
	SqDist   *graph.Node // D[i j] = ‖x_i − r_j‖²
	Alpha    *graph.Node // α[i j]: how much point i belongs to centre j
	Nearest  *graph.Node // a[i]: the nearest centre, int64
	Expected *graph.Node // r̂[i d] = Σ_j α_ij r_j
	Loss     *graph.Node
}

// SqDistances returns the squared distances D[i j] = ‖x_i − r_j‖² of all points x[i d] from all
// centres r[j d], floats of one type: the left part of the notes' Figures 1 and 3.
func SqDistances(x, r *graph.Node) *graph.Node {
	Δ := ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d")).As("Δ")
	return ops.Sum(ops.Square(Δ), "d").As("D")
}

// assign returns the common part of the two differentiable objectives: distances and their
// softmax with the temperature γ (equation 1 of the notes).
func assign(x, r, γ *graph.Node) KMeans {
	defer graph.Of(x, r, γ).Scope("assign")()
	D := SqDistances(x, r)
	α := ops.Softmax(ops.Neg(ops.Mul(γ, D)), "j").As("α")
	return KMeans{Points: x, Centres: r, Gamma: γ, SqDist: D, Alpha: α}
}

// SoftKMeans returns soft k-means, the objective of section 2.2 of the notes:
//
//	α_ij = softmax_j(−γ‖x_i − r_j‖²),  loss = mean_i Σ_j α_ij ‖x_i − r_j‖²
//
// for floats x[i d] (points) and r[j d] (centres), and a scalar γ.
func SoftKMeans(x, r, γ *graph.Node) KMeans {
	m := assign(x, r, γ)
	defer graph.Of(x, r, γ).Scope("objective")()
	m.Loss = ops.Mean(ops.Sum(ops.Mul(m.Alpha, m.SqDist), "j"), "i").As("loss")
	return m
}

// GoofyKMeans returns the "goofy alternative", the objective of section 2.3 of the notes, which
// brings the expected centre of each point near to it:
//
//	r̂_i = Σ_j α_ij r_j,  loss = mean_i ‖r̂_i − x_i‖²
//
// with α and operands as in [SoftKMeans].
func GoofyKMeans(x, r, γ *graph.Node) KMeans {
	m := assign(x, r, γ)
	defer graph.Of(x, r, γ).Scope("objective")()
	m.Expected = ops.MatMul(m.Alpha, r).As("r̂")
	m.Loss = ops.Mean(ops.Sum(ops.Square(ops.Sub(m.Expected, x)), "d"), "i").As("loss")
	return m
}

// HardKMeans returns the first attempt of section 2.1 of the notes, in which each point attracts
// its nearest centre only:
//
//	a_i = argmin_j ‖x_i − r_j‖²,  loss = mean_i ‖x_i − r_{a_i}‖²
//
// The choice has no derivative. The loss has one by the chosen centres: a gradient step on a single
// point is r ← r + η·2(x − r).
func HardKMeans(x, r *graph.Node) KMeans {
	end := graph.Of(x, r).Scope("assign")
	D := SqDistances(x, r)
	a := ops.ArgMin(D, "j").As("a")
	end()
	defer graph.Of(x, r).Scope("objective")()
	chosen := ops.Gather(r, a, "j").As("r_a")
	loss := ops.Mean(ops.Sum(ops.Square(ops.Sub(x, chosen)), "d"), "i").As("loss")
	return KMeans{Points: x, Centres: r, SqDist: D, Nearest: a, Loss: loss}
}

// Lloyd returns one round of Lloyd's algorithm (section 2 of the notes): every point goes to its
// nearest centre, and the step moves every centre to the mean of its points. The loss is the mean
// squared distance before the round: the inertia divided by the number of points. A centre without
// points stays where it is.
func Lloyd(x, r *graph.Node) (KMeans, graph.Step) {
	g := graph.Of(x, r)
	end := g.Scope("assign")
	D := SqDistances(x, r)
	a := ops.ArgMin(D, "j").As("a")
	loss := ops.Mean(ops.Min(D, "j"), "i").As("loss")
	end()
	defer g.Scope("update")()
	member := ops.OneHot(a, -1, D.Shape().Axis(1), D.DType()).As("member")
	count := ops.Sum(member, "i").As("count")
	total := ops.MatMul(ops.Transpose(member), x).As("total")
	perCentre := ops.Expand(count, -1, "d")
	mean := ops.Div(total, ops.Maximum(perCentre, ops.Lit(perCentre, 1))).As("mean")
	empty := ops.Equal(perCentre, ops.Lit(perCentre, 0))
	next := ops.Select(empty, r, mean).As("r′")
	return KMeans{Points: x, Centres: r, SqDist: D, Nearest: a, Loss: loss}, graph.Step{g.Assign(r, next)}
}

// Spread returns the difference between the losses of [SoftKMeans] and [GoofyKMeans], a scalar.
// Because Σ_j α_ij = 1,
//
//	Σ_j α_ij ‖x_i − r_j‖² = ‖x_i − r̂_i‖² + Σ_j α_ij ‖r_j − r̂_i‖²
//
// and the spread is the mean over the points of the second term: the α-weighted variance of the
// centres around the expected one. alpha is α[i j], and centres is r[j d].
func Spread(alpha, centres *graph.Node) *graph.Node {
	defer graph.Of(alpha, centres).Scope("spread")()
	expected := ops.MatMul(alpha, centres).As("r̂")
	apart := ops.Sum(ops.Square(ops.Sub(ops.Over(centres, "i", "j", "d"), ops.Over(expected, "i", "j", "d"))), "d")
	return ops.Mean(ops.Sum(ops.Mul(alpha, apart), "j"), "i").As("spread")
}
