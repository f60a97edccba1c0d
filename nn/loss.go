package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// SquaredError returns the mean of (y − target)² over all elements, a scalar, for floats y[…] and
// target[…] of one shape. A column and a list, [n 1] and [n], are a mistake.
func SquaredError(y, target *graph.Node) *graph.Node {
	defer graph.Of(y, target).Scope("squared error")()
	return ops.Mean(ops.Square(ops.Sub(y, target)))
}

// Huber returns the mean, over all elements, of a squared error that grows linearly beyond a
// distance δ, so that single outliers do not dominate (Huber, 1964):
//
//	r = y − target,  c = r clipped to ±δ,  loss = mean c·(r − c/2)
//
// This is r²/2 within δ, and δ·(|r| − δ/2) outside. y[…] and target[…] are floats of one shape, and
// δ is a scalar of their type: PyTorch's delta.
func Huber(y, target, δ *graph.Node) *graph.Node {
	defer graph.Of(y, target, δ).Scope("huber")()
	r := ops.Sub(y, target).As("r")
	c := ops.Clip(r, ops.Neg(δ), δ).As("c")
	return ops.Mean(ops.Mul(c, ops.Sub(r, ops.Scale(c, 0.5))))
}

// BinaryCrossEntropy returns the mean, over all elements, of the cross-entropy between labels y and
// the probabilities σ(z), computed from the scores z:
//
//	loss = mean p·y·softplus(−z) + (1 − y)·softplus(z)
//
// z[…] and y[…] are floats of one shape; y is 0, 1, or a probability. It is finite and accurate for
// every finite z, while the logarithm of σ(z) is not. The weight p of positive examples has a shape
// that broadcasts to z (PyTorch's pos_weight), or is nil for 1.
//
// It is a mistake if z is known to be a probability or the logarithm of one: a sigmoid or a
// softmax, or a node made of them that stays between 0 and 1, such as 1 − σ(z), also clipped,
// joined with others, or after dropout.
func BinaryCrossEntropy(z, y, p *graph.Node) *graph.Node {
	if z.IsValid() {
		if err := scoresOf(z, false); err != nil {
			return z.Graph().Fail("BinaryCrossEntropy", err, z, y)
		}
	}
	defer graph.Of(z, y, p).Scope("binary cross-entropy")()
	positive := ops.Mul(y, ops.Softplus(ops.Neg(z)))
	if p != nil {
		positive = ops.Mul(positive, p)
	}
	return ops.Mean(ops.Add(positive, ops.Mul(ops.OneMinus(y), ops.Softplus(z))))
}

// KLDivergence returns the Kullback–Leibler divergence of q from p, averaged over all axes but the
// last, a scalar:
//
//	D(p‖q) = Σ_c p_c (log p_c − log q_c)
//
// Both are given by their logarithms, logP[… c] and logQ[… c]. A class of probability 0 under p
// (log p = −∞) contributes 0. An operand that is known to be a probability itself is a mistake.
func KLDivergence(logP, logQ *graph.Node) *graph.Node {
	g := graph.Of(logP, logQ)
	if !logP.IsValid() || !logQ.IsValid() {
		return g.Fail("KLDivergence", build.ErrNoOperand, logP, logQ)
	}
	if err := logarithmsOf(logP, logQ); err != nil {
		return g.Fail("KLDivergence", err, logP, logQ)
	}
	defer g.Scope("KL divergence")()
	p := ops.Exp(logP).As("p")
	none := ops.Equal(p, ops.Lit(p, 0))
	// −∞ times 0 is NaN, also in the derivative: the mask stands before the product.
	zero := ops.Lit(p, 0)
	d := ops.Sub(ops.Select(none, zero, logP), ops.Select(none, zero, logQ))
	return ops.Mean(ops.Sum(ops.Mul(p, d), -1))
}
